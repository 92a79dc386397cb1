<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use DateTimeInterface;
use DateTimeZone;
use GMP;
use Offbeat\Times;

/**
 * The one form that answers have in JSON: the public properties by their names, instants as RFC 3339 in
 * UTC, spans as numbers of seconds, IDs as they were given (a GMP object as its decimals).
 *
 * @internal
 */
final class Json
{
    /** @return array<string, mixed> */
    public static function of(object $answer): array
    {
        return array_map(self::value(...), get_object_vars($answer));
    }

    private static function value(mixed $value): mixed
    {
        return match (true) {
            $value instanceof DateTimeInterface => self::instant($value),
            $value instanceof DateInterval => Times::seconds($value),
            $value instanceof GMP => gmp_strval($value),
            is_array($value) => array_map(self::value(...), $value),
            default => $value,
        };
    }

    /** With 0, 3 or 6 digits of a fraction, as protobuf writes it. */
    private static function instant(DateTimeInterface $instant): string
    {
        $utc = \DateTimeImmutable::createFromInterface($instant)->setTimezone(new DateTimeZone('UTC'));
        $micros = (int) $utc->format('u');

        return $utc->format(match (true) {
            $micros === 0 => 'Y-m-d\TH:i:s\Z',
            $micros % 1_000 === 0 => 'Y-m-d\TH:i:s.v\Z',
            default => 'Y-m-d\TH:i:s.u\Z',
        });
    }
}
