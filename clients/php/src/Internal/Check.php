<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateTimeZone;
use Offbeat\Exception\InvalidArgument;

/**
 * Refuses values that a field cannot hold. The runtimes of protobuf differ in that, and some would truncate them.
 *
 * @internal
 */
final class Check
{
    private const INT32_MAX = 2 ** 31 - 1;

    public static function int32(string $field, int $value): int
    {
        if ($value < -self::INT32_MAX - 1 || $value > self::INT32_MAX) {
            $allowed = 'must be an integer of 32 bits';
            throw InvalidArgument::refused($field, $value, $allowed, 'ERROR_REASON_OUT_OF_RANGE');
        }

        return $value;
    }

    public static function utf8(string $field, string $value): string
    {
        if (preg_match('//u', $value) !== 1) {
            throw InvalidArgument::refused($field, $value, 'must be text in UTF-8');
        }

        return $value;
    }

    /** The IANA name of a time zone. Only the sidecar checks whether it exists. */
    public static function timeZone(string $field, mixed $zone): string
    {
        return match (true) {
            is_string($zone) => self::utf8($field, $zone),
            $zone instanceof DateTimeZone => $zone->getName(),
            default => throw InvalidArgument::refused($field, $zone, 'must be a DateTimeZone, or the IANA name of a zone'),
        };
    }

    /**
     * @param array<mixed> $zones
     *
     * @return list<string>
     */
    public static function timeZones(array $zones): array
    {
        $names = [];
        foreach (array_values($zones) as $place => $zone) {
            $names[] = self::timeZone("time_zones[$place]", $zone);
        }

        return $names;
    }

    public static function timeout(string $field, int|float $seconds): float
    {
        if (!is_finite($seconds) || $seconds <= 0) {
            throw InvalidArgument::refused($field, $seconds, 'must be a positive number of seconds');
        }

        return (float) $seconds;
    }
}
