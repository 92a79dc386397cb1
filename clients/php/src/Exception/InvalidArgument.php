<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** A field is out of range, malformed or contradictory. Repeating the call does not help. */
class InvalidArgument extends OffbeatException
{
    private const SHOWN_BYTES = 80;

    /**
     * The exception for a value that is refused before it is sent, in the form of the sidecar's refusals.
     *
     * @internal
     */
    public static function refused(
        string $field,
        mixed $value,
        string $allowed,
        string $reason = 'ERROR_REASON_MALFORMED',
    ): self {
        $shown = self::shown($value);

        return new self(
            "$field: $shown is refused: $allowed",
            reason: $reason,
            field: $field,
            value: $shown,
            allowed: $allowed,
        );
    }

    private static function shown(mixed $value): string
    {
        // JSON, so that the message is UTF-8 even if the bytes are not.
        $shown = match (true) {
            is_float($value) => sprintf('%.*H', -1, $value),
            is_scalar($value), $value === null => json_encode(
                is_string($value) ? substr($value, 0, self::SHOWN_BYTES) : $value,
                JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES | JSON_INVALID_UTF8_SUBSTITUTE,
            ),
            default => get_debug_type($value),
        };

        return (string) $shown;
    }
}
