<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\NeedsSidecar;
use Offbeat\V1;

/**
 * Turns specs into checked schedules. Refuses those that are invalid, as the sidecar does, and those that need a
 * sidecar.
 *
 * @internal
 */
final class ScheduleReader
{
    private const MAX_PERIOD_MILLIS = 316_224_000_000;
    public const MAX_SLOTS = 1 << 20;
    private const MAX_SALT_BYTES = 256;
    private const DEFAULT_BUCKETS = 256;
    private const WIDE_BUCKETS = 65_536;
    private const NEAREST_STEPS = 1_024;
    private const PLACEMENTS = ['HASH', 'HASH', 'TWISTER', 'FRACTION'];

    public static function spec(V1\ScheduleSpec $spec, string $field = 'schedule.spec'): CheckedSchedule
    {
        self::checkLocal($spec);
        if (!$spec->hasPeriod()) {
            throw Refusal::of(Refusal::MISSING, "$field.period", 'nothing', 'must be 1 ms to 316224000 s (3660 days)');
        }
        $period = Span::ofMessage("$field.period", $spec->getPeriod());
        $resolution = Span::ofOptional("$field.resolution", $spec->getResolution());
        $anchor = $spec->getAnchorTime() === null ? null : Moment::ofMessage("$field.anchor_time", $spec->getAnchorTime());
        $placement = self::placement($spec, $field);
        $tickMillis = self::tickMillis($resolution, "$field.resolution");
        $ticks = self::ticks($period, $tickMillis, "$field.period");
        $anchorMillis = self::anchorMillis($anchor, $tickMillis, "$field.anchor_time");
        $buckets = self::buckets($spec, $placement, $field);
        $slots = self::slotCount($spec->hasSlotCount() ? $spec->getSlotCount() : null, $ticks, $tickMillis, $buckets, "$field.slot_count");
        $kinds = Kinds::ofSpec($spec, $field, $slots, intdiv($ticks, $slots), $tickMillis);

        return new CheckedSchedule($ticks, $tickMillis, $anchorMillis, $slots, $placement, $spec->getSalt(), $buckets, $kinds);
    }

    /** @throws NeedsSidecar */
    private static function checkLocal(V1\ScheduleSpec $spec): void
    {
        $isTwister = $spec->getPlacement() === V1\Placement::PLACEMENT_TWISTER;
        $isPhp = $spec->getProfile() === V1\TwisterProfile::TWISTER_PROFILE_PHP;
        $reason = match (true) {
            $spec->hasCalendar() => 'a calendar cycle needs a sidecar: clients decide elapsed periods alone',
            count($spec->getActiveWindows()) > 0 => 'active windows need a sidecar: clients decide whole cycles alone',
            count($spec->getExclusions()) > 0 => 'exclusions need a sidecar: clients decide without them alone',
            $spec->hasWeightQuantum() => 'weights need a sidecar: clients decide IDs of one piece alone',
            count($spec->getKinds()) > 0 && count($spec->getKindConflicts()) > 0
                => 'kind conflicts need a sidecar: clients decide kinds alone of which no two may meet',
            $isTwister && !$isPhp => 'another twister profile than PHP needs a sidecar: clients draw as their own language alone',
            $isTwister && !class_exists(\Random\Engine\Mt19937::class)
                => 'PLACEMENT_TWISTER needs a sidecar before PHP 8.2, which has a generator only that all share',
            default => null,
        };
        if ($reason !== null) {
            throw new NeedsSidecar($reason);
        }
    }

    private static function placement(V1\ScheduleSpec $spec, string $field): int
    {
        $placement = $spec->getPlacement();
        if (!isset(self::PLACEMENTS[$placement])) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, "$field.placement", $placement, 'must be 0 to 3, a value of Placement');
        }
        if ($spec->getProfile() < 0 || $spec->getProfile() > V1\TwisterProfile::TWISTER_PROFILE_PHP) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, "$field.profile", $spec->getProfile(), 'must be 0 to 4, a value of TwisterProfile');
        }

        return $placement === V1\Placement::PLACEMENT_UNSPECIFIED ? V1\Placement::PLACEMENT_HASH : $placement;
    }

    private static function tickMillis(?Span $resolution, string $field): int
    {
        $millis = $resolution === null ? 1_000 : $resolution->wholeMillis();
        if ($millis === null || $millis === 0 || 1_000 % $millis !== 0) {
            $allowed = 'must be 1 to 1000 ms, and divide one second (1000, 500, 250, … 1 ms)';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $resolution->text(), $allowed);
        }

        return $millis;
    }

    private static function ticks(Span $period, int $tickMillis, string $field): int
    {
        $millis = $period->wholeMillis();
        if ($millis === null || $millis < 1 || $millis > self::MAX_PERIOD_MILLIS || $millis % $tickMillis !== 0) {
            $tick = Span::ofMillis($tickMillis)->text();
            $allowed = "must be $tick to 316224000s (3660 days), a whole number of ticks of $tick";
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $period->text(), $allowed);
        }

        return intdiv($millis, $tickMillis);
    }

    private static function anchorMillis(?Moment $anchor, int $tickMillis, string $field): int
    {
        $millis = $anchor?->millisFloor() ?? 0;
        if ($anchor !== null && ($millis !== $anchor->millisCeil() || $millis % $tickMillis !== 0)) {
            $allowed = 'must be a whole number of ticks of ' . Span::ofMillis($tickMillis)->text() . ' since the Unix epoch';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $anchor->text(), $allowed);
        }

        return $millis;
    }

    /**
     * Refuses fields that only another placement reads. Returns the bucket count of a twister; null for other
     * placements.
     */
    private static function buckets(V1\ScheduleSpec $spec, int $placement, string $field): ?int
    {
        $name = self::PLACEMENTS[$placement];
        $contradiction = static fn (string $of, string|int $value, string $owner): \Throwable => Refusal::of(
            Refusal::CONTRADICTORY,
            "$field.$of",
            $value,
            "must not be set with placement $name: only $owner reads it",
        );
        $salt = $spec->getSalt();
        if ($placement !== V1\Placement::PLACEMENT_HASH && $salt !== '') {
            throw $contradiction('salt', Refusal::quoted($salt), 'HASH');
        }
        if ($placement !== V1\Placement::PLACEMENT_TWISTER) {
            if ($spec->hasBucketCount()) {
                throw $contradiction('bucket_count', $spec->getBucketCount(), 'TWISTER');
            }
            if ($spec->getProfile() !== V1\TwisterProfile::TWISTER_PROFILE_UNSPECIFIED) {
                $profile = substr(V1\TwisterProfile::name($spec->getProfile()), strlen('TWISTER_PROFILE_'));
                throw $contradiction('profile', $profile, 'TWISTER');
            }
            self::checkSalt($salt, "$field.salt");

            return null;
        }
        $count = $spec->hasBucketCount() ? $spec->getBucketCount() : self::DEFAULT_BUCKETS;
        if ($count !== self::DEFAULT_BUCKETS && $count !== self::WIDE_BUCKETS) {
            $allowed = 'must be 256 or 65536 buckets (the last byte of an ID, or its last two)';
            throw Refusal::of(Refusal::OUT_OF_RANGE, "$field.bucket_count", $count, $allowed);
        }

        return $count;
    }

    public static function checkSalt(string $salt, string $field): void
    {
        if (strlen($salt) > self::MAX_SALT_BYTES) {
            $value = 'a salt of ' . strlen($salt) . ' bytes';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $value, 'must be 0 to 256 bytes of UTF-8');
        }
    }

    private static function slotCount(?int $count, int $ticks, int $tickMillis, ?int $buckets, string $field): int
    {
        if ($count === null) {
            return self::defaultSlotCount($ticks * $tickMillis, $field);
        }
        if ($count < 1 || $count > self::MAX_SLOTS) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $count, 'must be 1 to 1048576 slots');
        }
        if ($buckets !== null && $count > $buckets) {
            $allowed = "must be 1 to $buckets slots with $buckets buckets: beyond, slots stay empty "
                . '(bucket_count 65536, or placement HASH, take more)';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $count, $allowed);
        }
        if ($ticks % $count !== 0) {
            $allowed = "must divide the period of $ticks ticks of " . Span::ofMillis($tickMillis)->text()
                . ' (' . self::nearestDivisors($ticks, $count) . ')';
            throw Refusal::of(Refusal::DOES_NOT_DIVIDE, $field, $count, $allowed);
        }

        return $count;
    }

    /**
     * The greatest common divisor of the seconds of a cycle and 256. It divides the ticks too, because a tick divides a
     * second.
     */
    private static function defaultSlotCount(int $millis, string $field): int
    {
        if ($millis % 1_000 !== 0) {
            $allowed = 'the period ' . Span::ofMillis($millis)->text() . ' is no whole number of seconds, so the slot count must be given';
            throw Refusal::of(Refusal::MISSING, $field, 'nothing', $allowed);
        }
        $seconds = intdiv($millis, 1_000);

        return min($seconds & -$seconds, 256);
    }

    /** The divisors of the period that are nearest to a count that is not one, as text. */
    private static function nearestDivisors(int $period, int $count): string
    {
        // Divisors are searched for near the count or, if there are none, near the number of times that the count goes
        // into the period.
        $divides = static fn (int $number): bool => $period % $number === 0;
        $first = static function (int $from, int $to, int $step) use ($divides): ?int {
            for ($number = $from; $step > 0 ? $number <= $to : $number >= $to; $number += $step) {
                if ($divides($number)) {
                    return $number;
                }
            }

            return null;
        };
        $times = intdiv($period, $count);
        $goes = static fn (?int $times): ?int => $times === null ? null : intdiv($period, $times);
        $below = $first($count - 1, max($count - self::NEAREST_STEPS, 1), -1)
            ?? $goes($first($times + 1, $times + self::NEAREST_STEPS, 1));
        $above = $first($count + 1, $count + self::NEAREST_STEPS, 1)
            ?? $goes($first($times, max($times - self::NEAREST_STEPS, 1), -1));
        $found = array_filter([$below, $above], static fn (?int $slots): bool => $slots !== null && $slots <= self::MAX_SLOTS);

        return $found === [] ? 'nearest: none within 1024 steps' : 'nearest: ' . implode(' and ', $found) . ' slots';
    }
}
