<?php

declare(strict_types=1);

namespace Offbeat;

/** The decider of an answer: a sidecar, or the client. */
enum DecidedBy: string
{
    /** The client, without a sidecar. */
    case Local = 'local';

    case Sidecar = 'sidecar';

    /**
     * The decider of an answer with these parts: the sidecar, if it decided one of them.
     *
     * @param non-empty-list<self> $parts
     *
     * @internal
     */
    public static function ofAll(array $parts): self
    {
        return in_array(self::Sidecar, $parts, true) ? self::Sidecar : self::Local;
    }
}
