<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use DateTimeInterface;
use DateTimeZone;
use GMP;
use Google\Protobuf\Internal\Message;
use Offbeat\Times;

/**
 * The JSON form of all answers: public properties by their names, instants as RFC 3339 in UTC, spans as numbers of
 * seconds, IDs as they were given (a GMP object as its decimal digits).
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

    /**
     * Fills a message from its JSON.
     *
     * @template T of Message
     *
     * @param T $message
     * @param array<string, mixed> $json
     *
     * @return T
     */
    public static function message(Message $message, array $json): Message
    {
        // Version 3.21 of the protobuf runtime reads the ".146" of an instant as 146 nanoseconds: give it all nine
        // digits.
        array_walk_recursive($json, static function (mixed &$value): void {
            if (is_string($value) && preg_match('/^(\d{4}-\d\d-\d\dT[\d:]{8})\.(\d{1,9})(Z|[+-][\d:]+)$/D', $value, $found)) {
                $value = $found[1] . '.' . str_pad($found[2], 9, '0') . $found[3];
            }
        });
        $message->mergeFromJsonString(json_encode((object) $json, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION));

        return $message;
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

    /** An instant with 0, 3 or 6 digits after the point, as protobuf writes it. */
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
