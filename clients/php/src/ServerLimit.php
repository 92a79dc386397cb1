<?php

declare(strict_types=1);

namespace Offbeat;

/** A limit of a sidecar: the allowed range of some quantity. */
final class ServerLimit
{
    /**
     * @param string $id identifies the limit, such as "named_spreads"; never changes
     * @param string $name what is limited, for people; may change, as may $note
     * @param string $unit of both values; empty for plain numbers
     * @param string $note further text for people; empty if there is none
     */
    public function __construct(
        public readonly string $id,
        public readonly string $name,
        public readonly int $minValue,
        public readonly int $maxValue,
        public readonly string $unit,
        public readonly string $note,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\ServerLimit $message): self
    {
        return new self(
            id: $message->getId(),
            name: $message->getName(),
            minValue: (int) $message->getMinValue(),
            maxValue: (int) $message->getMaxValue(),
            unit: $message->getUnit(),
            note: $message->getNote(),
        );
    }
}
