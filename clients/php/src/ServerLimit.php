<?php

declare(strict_types=1);

namespace Offbeat;

/** A limit of a sidecar: the allowed range of some quantity. */
final class ServerLimit
{
    /**
     * @param string $name words for people, which may change
     * @param string $unit of both; empty for plain numbers
     * @param string $note what else to know
     */
    public function __construct(
        public readonly string $name,
        public readonly int $minimum,
        public readonly int $maximum,
        public readonly string $unit,
        public readonly string $note,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\ServerLimit $message): self
    {
        return new self(
            $message->getName(),
            (int) $message->getMinimum(),
            (int) $message->getMaximum(),
            $message->getUnit(),
            $message->getNote(),
        );
    }
}
