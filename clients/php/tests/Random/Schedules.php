<?php

declare(strict_types=1);

namespace Offbeat\Tests\Random;

use DateTimeImmutable;
use Offbeat\Kind;
use Offbeat\KindSpacing;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\TwisterProfile;

/** Schedules that a client can decide without a sidecar. */
final class Schedules
{
    public static function draw(): Schedule
    {
        $tick = Draw::errs(8) ? Draw::pick([0.3, 2, 0, 0.0001]) : Draw::pick([null, null, 1, 0.5, 0.25, 0.001, 0.04]);
        $period = Draw::pick([60, 3_600, 28_800, 86_400, 604_800, 86_400 * 3_660, Draw::number(1, 100_000)]);
        $period = $tick === null || Draw::oneIn(2) ? $period : Draw::pick([3, 7, 250]) * $tick;
        $period = Draw::errs(8) ? Draw::pick([0, -5, 86_400 * 3_660 + 1, 0.0001, null]) : $period;
        $placement = Draw::pick([null, Placement::Hash, Placement::Hash, Placement::Twister, Placement::Fraction]);
        $isHash = $placement === null || $placement === Placement::Hash;
        $isTwister = $placement === Placement::Twister;
        $kinds = Draw::oneIn(2) ? self::kinds($period) : [];
        $hasRunTimes = ($kinds[0] ?? null)?->runTime !== null;
        $salt = Draw::errs(8) ? str_repeat('s', 257) : ($isHash || Draw::errs(8) ? Draw::pick(['', Draw::text()]) : '');

        return new Schedule(
            period: $period,
            slotCount: self::slotCount($period, $tick, $isTwister),
            placement: $placement,
            salt: $salt,
            profile: $isTwister ? TwisterProfile::Php : (Draw::errs(10) ? TwisterProfile::Ruby : null),
            bucketCount: Draw::errs(10) ? Draw::pick([256, 512]) : ($isTwister ? Draw::pick([null, 65_536]) : null),
            resolution: $tick,
            anchorTime: Draw::errs(3) ? Draw::instant() : Draw::pick([null, new DateTimeImmutable('2026-01-05T00:00:00Z')]),
            kinds: $kinds,
            kindSpacing: $kinds === [] || $hasRunTimes ? (Draw::errs(8) ? KindSpacing::Stable : null) : Draw::pick([null, ...KindSpacing::cases()]),
            catchUpSpan: self::catchUpSpan($period, count($kinds)),
        );
    }

    private static function slotCount(mixed $period, mixed $tick, bool $isTwister): ?int
    {
        if (Draw::errs(8)) {
            return Draw::pick([0, -1, 7, 97, 1_048_577, 65_537, 524_288]);
        }
        $ticks = is_numeric($period) ? (int) round($period / (($tick ?? 1) ?: 1)) : 0;
        $divides = static fn (int $count): bool => $ticks % $count === 0;

        return $period == (int) $period && Draw::oneIn(3) ? null : Draw::pick(array_filter(range(1, $isTwister ? 256 : 2_000), $divides));
    }

    private static function catchUpSpan(mixed $period, int $kinds): int|float|null
    {
        return match (true) {
            $kinds === 0 => Draw::errs(10) ? 5 : null,
            Draw::errs(6) => Draw::pick([$period, 0, -1]),
            default => Draw::oneIn(3) ? $period / Draw::pick([2, 3, 4]) / $kinds : null,
        };
    }

    private static function kinds(mixed $period): array
    {
        $names = array_slice(['import', 'export', 'mail', 'a.b', 'x-y_z'], 0, Draw::number(1, Draw::oneIn(3) ? 5 : 2));
        $names = Draw::errs(8) ? [...$names, Draw::pick(['import', '', 'two words', str_repeat('k', 65)])] : $names;
        $longest = Draw::errs(4) ? 1.5 : 1 / count($names) / 4;
        $runTime = static fn (): mixed => Draw::errs(20) ? Draw::pick([null, -1]) : Draw::pick([0, 0.001, (float) $period * $longest, (float) $period * $longest / 3]);
        $hasRunTimes = !Draw::oneIn(3);

        return array_map(static fn (string $name): Kind => new Kind($name, $hasRunTimes ? $runTime() : null), $names);
    }
}
