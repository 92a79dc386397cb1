<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Google\Protobuf\Duration;

/**
 * A length of time, exact to the nanosecond: seconds and nanoseconds with one sign.
 *
 * @internal
 */
final class Span
{
    /** Longer spans have more milliseconds than an integer holds. */
    private const MAX_SECONDS = 9_000_000_000_000_000;

    public function __construct(public readonly int $seconds, public readonly int $nanos = 0)
    {
    }

    public static function ofMillis(int $millis): self
    {
        return new self(intdiv($millis, 1_000), $millis % 1_000 * 1_000_000);
    }

    public static function ofMessage(string $field, Duration $message): self
    {
        [$seconds, $nanos] = [(int) $message->getSeconds(), $message->getNanos()];
        if (($seconds > 0 && $nanos < 0) || ($seconds < 0 && $nanos > 0) || abs($nanos) >= 1_000_000_000) {
            $allowed = 'must be -999999999 to 999999999 ns, with the sign of the seconds';
            throw Refusal::of(Refusal::MALFORMED, "$field.nanos", $nanos, $allowed);
        }

        return new self($seconds, $nanos);
    }

    public static function ofOptional(string $field, ?Duration $message): ?self
    {
        return $message === null ? null : self::ofMessage($field, $message);
    }

    /** The milliseconds, if they are whole and not below 0. */
    public function wholeMillis(): ?int
    {
        $isWhole = $this->nanos % 1_000_000 === 0 && $this->seconds >= 0 && $this->nanos >= 0;

        return $isWhole && $this->seconds < self::MAX_SECONDS ? $this->millisFloor() : null;
    }

    public function millisFloor(): int
    {
        return $this->seconds * 1_000 + intdiv($this->nanos, 1_000_000);
    }

    public function millisCeil(): int
    {
        return $this->millisFloor() + ($this->nanos % 1_000_000 > 0 ? 1 : 0);
    }

    public function plus(self $other): self
    {
        $nanos = $this->nanos + $other->nanos;

        return new self($this->seconds + $other->seconds + intdiv($nanos, 1_000_000_000), $nanos % 1_000_000_000);
    }

    /** The difference to a span that is not longer. */
    public function minus(self $other): self
    {
        $borrowed = $this->nanos < $other->nanos ? 1 : 0;

        return new self($this->seconds - $other->seconds - $borrowed, $this->nanos - $other->nanos + $borrowed * 1_000_000_000);
    }

    /** Whether it lies between two others, both included. */
    public function isWithin(self $least, self $most): bool
    {
        return $least->compare($this) <= 0 && $this->compare($most) <= 0;
    }

    public function compare(self $other): int
    {
        return [$this->seconds, $this->nanos] <=> [$other->seconds, $other->nanos];
    }

    /** In seconds, with 0, 3, 6 or 9 digits after the point. */
    public function text(): string
    {
        $sign = $this->seconds < 0 || $this->nanos < 0 ? '-' : '';

        return $sign . ltrim((string) $this->seconds, '-') . self::fraction(abs($this->nanos)) . 's';
    }

    public function message(): Duration
    {
        return (new Duration())->setSeconds($this->seconds)->setNanos($this->nanos);
    }

    /** The point and the digits after the seconds; empty if there are none. */
    public static function fraction(int $nanos): string
    {
        return match (true) {
            $nanos === 0 => '',
            $nanos % 1_000_000 === 0 => sprintf('.%03d', intdiv($nanos, 1_000_000)),
            $nanos % 1_000 === 0 => sprintf('.%06d', intdiv($nanos, 1_000)),
            default => sprintf('.%09d', $nanos),
        };
    }
}
