<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use Google\Protobuf\Duration;
use Google\Protobuf\Timestamp;
use Offbeat\Exception\InvalidArgument;

/**
 * Converts instants and spans between PHP and protobuf. Those of messages are cut to microseconds, which is all that
 * PHP has.
 */
final class Times
{
    private const MICROS = 1_000_000;
    private const NANOS = 1_000_000_000;
    private const MAX_SECONDS = 1_000_000_000_000;

    /**
     * A span in seconds: an int if they are whole.
     *
     * @throws InvalidArgument for months, years and weekdays, which have no fixed length
     */
    public static function seconds(DateInterval $span): int|float
    {
        [$seconds, $nanos] = self::ofInterval('span', $span);

        return $nanos === 0 ? $seconds : $seconds + $nanos / self::NANOS;
    }

    /** @internal A DateInterval, or a number of seconds, as a message. Floats are rounded to the nanosecond. */
    public static function toDuration(string $field, DateInterval|int|float $span): Duration
    {
        [$seconds, $nanos] = self::parts($field, $span);

        return new Duration(['seconds' => $seconds, 'nanos' => $nanos]);
    }

    /** @internal The same in microseconds, rounded. */
    public static function toMicros(string $field, DateInterval|int|float $span): int
    {
        [$seconds, $nanos] = self::parts($field, $span);
        if (abs($seconds) >= self::MAX_SECONDS) {
            throw InvalidArgument::refused($field, $span, 'must be shorter than 10^12 seconds', 'ERROR_REASON_OUT_OF_RANGE');
        }

        return $seconds * self::MICROS + (int) round($nanos / 1_000);
    }

    /** @internal In hours, minutes and seconds, because days differ in length. */
    public static function fromDuration(?Duration $message): DateInterval
    {
        return self::interval((int) $message?->getSeconds(), (int) $message?->getNanos());
    }

    /** @internal The same, from microseconds. */
    public static function fromMicros(int $micros): DateInterval
    {
        return self::interval(intdiv($micros, self::MICROS), $micros % self::MICROS * 1_000);
    }

    /** @internal As fromDuration(); null if the span is not set. */
    public static function fromOptional(?Duration $message): ?DateInterval
    {
        return $message === null ? null : self::fromDuration($message);
    }

    /** @internal A copy of a span, because callers could change the original. */
    public static function copy(DateInterval|int|float|null $span): DateInterval|int|float|null
    {
        return is_object($span) ? clone $span : $span;
    }

    /** @internal A span from seconds and nanoseconds, which have one sign. */
    public static function interval(int $seconds, int $nanos): DateInterval
    {
        $whole = abs($seconds);
        $span = new DateInterval(
            sprintf('PT%dH%dM%dS', intdiv($whole, 3_600), intdiv($whole, 60) % 60, $whole % 60),
        );
        $span->f = intdiv(abs($nanos), 1_000) / self::MICROS;
        $span->invert = $seconds < 0 || $nanos < 0 ? 1 : 0;

        return $span;
    }

    /** @internal */
    public static function toTimestamp(DateTimeInterface $instant): Timestamp
    {
        return new Timestamp([
            'seconds' => $instant->getTimestamp(),
            'nanos' => (int) $instant->format('u') * 1_000,
        ]);
    }

    /** @internal An instant in UTC. */
    public static function fromTimestamp(?Timestamp $message): DateTimeImmutable
    {
        return self::instant((int) $message?->getSeconds(), intdiv((int) $message?->getNanos(), 1_000));
    }

    /** @internal The same; null if the instant is not set. */
    public static function fromOptionalTimestamp(?Timestamp $message): ?DateTimeImmutable
    {
        return $message === null ? null : self::fromTimestamp($message);
    }

    /** @internal An instant in UTC, from seconds since the Unix epoch and microseconds after them. */
    public static function instant(int $seconds, int $micros): DateTimeImmutable
    {
        static $epoch = new DateTimeImmutable('1970-01-01', new DateTimeZone('UTC'));
        $instant = $epoch->setTimestamp($seconds);

        return $micros === 0 ? $instant : $instant->modify("+$micros microseconds");
    }

    /** @internal An instant plus a span. */
    public static function shifted(string $field, DateTimeInterface $instant, DateInterval|int|float $span): DateTimeImmutable
    {
        $micros = (int) $instant->format('u') + self::toMicros($field, $span);
        $carry = (int) floor($micros / self::MICROS);

        return self::instant($instant->getTimestamp() + $carry, $micros - $carry * self::MICROS);
    }

    /**
     * @internal A span as seconds and nanoseconds of one sign.
     *
     * @return array{int, int}
     */
    public static function parts(string $field, DateInterval|int|float $span): array
    {
        return match (true) {
            is_int($span) => [$span, 0],
            is_float($span) => self::ofFloat($field, $span),
            default => self::ofInterval($field, $span),
        };
    }

    /**
     * Reads a float by its shortest decimal, as it was written: 0.001 is exactly one millisecond.
     *
     * @return array{int, int}
     */
    private static function ofFloat(string $field, float $span): array
    {
        if (!is_finite($span) || abs($span) >= self::MAX_SECONDS) {
            throw InvalidArgument::refused($field, $span, 'must be a finite number of seconds');
        }
        $written = sprintf('%.*H', -1, abs($span));
        if (str_contains($written, 'E')) { // below 1e-4: no whole seconds, and no more than 53 bits
            $seconds = 0;
            $nanos = (int) round(abs($span) * self::NANOS);
        } else {
            [$seconds, $rest] = explode('.', $written) + [1 => ''];
            $nanos = (int) round((float) (substr(str_pad($rest, 9, '0'), 0, 9) . '.' . substr($rest, 9) . '0'));
            $seconds = (int) $seconds + intdiv($nanos, self::NANOS);
            $nanos %= self::NANOS;
        }

        return $span < 0 ? [-$seconds, -$nanos] : [$seconds, $nanos];
    }

    /** @return array{int, int} */
    private static function ofInterval(string $field, DateInterval $span): array
    {
        $days = $span->days; // counted by diff(), false for all others
        if ($days === false) {
            if ($span->y !== 0 || $span->m !== 0 || self::dependsOnTheDate($span)) {
                throw InvalidArgument::refused(
                    $field,
                    $span,
                    'must be of a fixed length: days (of 24 hours), hours, minutes, seconds',
                );
            }
            $days = $span->d;
        }
        $seconds = $days * 86_400 + $span->h * 3_600 + $span->i * 60 + $span->s;
        $micros = (int) round($span->f * self::MICROS);
        if (!is_int($seconds) || abs($seconds) >= self::MAX_SECONDS) {
            throw InvalidArgument::refused($field, $span, 'must be shorter than 10^12 seconds');
        }
        $seconds += intdiv($micros, self::MICROS);
        $micros %= self::MICROS;
        if ($seconds > 0 && $micros < 0) {
            [$seconds, $micros] = [$seconds - 1, $micros + self::MICROS];
        } elseif ($seconds < 0 && $micros > 0) {
            [$seconds, $micros] = [$seconds + 1, $micros - self::MICROS];
        }
        $sign = $span->invert === 1 ? -1 : 1;

        return [$sign * $seconds, $sign * $micros * 1_000];
    }

    /**
     * Whether a span depends on the date, such as "3 weekdays" or "monday" from createFromDateString(): its properties
     * do not show it.
     */
    private static function dependsOnTheDate(DateInterval $span): bool
    {
        $plain = new DateInterval('PT0S');
        foreach (['d', 'h', 'i', 's', 'f'] as $unit) {
            $plain->$unit = $span->$unit;
        }
        foreach (['2023-01-10T00:00:00Z', '2024-02-07T00:00:00Z'] as $day) { // a Tuesday, a Wednesday
            $start = new DateTimeImmutable($day);
            // Such intervals cannot be subtracted: the sign is left to the caller.
            $forward = clone $span;
            $forward->invert = 0;
            if ($start->add($forward) != $start->add($plain)) {
                return true;
            }
        }

        return false;
    }
}
