<?php

declare(strict_types=1);

namespace Offbeat\Tests\Random;

use DateTimeImmutable;
use Offbeat\CatchUpPolicy;
use Offbeat\Client;
use Offbeat\IdType;
use Offbeat\MissedRunPolicy;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\Times;

final class DueQuestions
{
    public static function due(Schedule $schedule, array $ids, ?IdType $type, DateTimeImmutable $now, ?string $kind): iterable
    {
        $period = is_numeric($schedule->period) ? $schedule->period : 3_600;
        $span = static fn (array $others = []): mixed => Draw::errs(6)
            ? Draw::pick([$period * 1.5, -1, 60])
            : Draw::pick([null, 0, $period, $period / 2, min(0.001, $period), min(0.0005, $period), ...$others]);
        $policy = Draw::oneIn(4) ? null : new CatchUpPolicy(
            missedRunPolicy: $policy = Draw::pick([null, MissedRunPolicy::Drop, MissedRunPolicy::RunOnce, MissedRunPolicy::RunOnce]),
            onTimeTolerance: $policy === MissedRunPolicy::Drop && !Draw::errs(4) ? 0.001 : Draw::pick([null, $schedule->kinds === [] ? $span() : 0.002]),
            horizon: Draw::errs(5) ? Draw::pick([0, 400_000_000]) : Draw::pick([null, min(30 * $period, 3e8)]),
            smearSpan: Draw::oneIn(2) || ($schedule->kinds !== [] && !Draw::errs(3)) ? null : $span(),
            minGap: Draw::oneIn(2) ? null : $span(),
        );
        $lookAhead = Draw::oneIn(2) ? null : $span();
        $skew = Draw::oneIn(2) ? null : $span();
        $since = static fn (): DateTimeImmutable => Times::shifted('x', $now, -(Draw::errs(8) ? Draw::pick([-0.9, -3]) : Draw::pick([0, 1, 0.5, 3, 20])) * min($period, 1e8));
        try {
            $watermark = $since();
            $watermarks = Draw::oneIn(3) ? array_map(static fn (): int => (int) $since()->format('Uv'), $ids) : null;
        } catch (\Throwable) {
            return; // before the year 1
        }
        $both = Draw::errs(6);
        yield 'due' => static fn (Client $client): mixed => $client->listDueRuns(
            $schedule,
            $ids,
            $watermarks === null || $both ? $watermark : null,
            $watermarks,
            $now,
            $policy,
            $lookAhead,
            $skew,
            $kind,
            $type,
            returnErrors: true,
        );
    }

    /** Many IDs whose missed runs are near runs of other kinds. */
    public static function late(Schedule $schedule): \Closure
    {
        $ids = range(1, 25);
        $now = Times::shifted('x', new DateTimeImmutable('2026-03-01T00:00:00Z'), Draw::number(0, 10 ** 9) / 1_000);
        $watermark = Times::shifted('x', $now, -1.5 * min((float) $schedule->period, 1e8));
        $kind = Draw::pick($schedule->kinds)->name;
        $policy = new CatchUpPolicy(onTimeTolerance: 0);
        $isFraction = $schedule->placement === Placement::Fraction;
        $ids = $isFraction ? array_map(static fn (int $id): float => $id / 26, $ids) : $ids;

        return static fn (Client $client): mixed => $client->listDueRuns($schedule, $ids, $watermark, null, $now, $policy, kind: $kind);
    }

    /** An ID that has missed a run, at the instant of its next run. */
    public static function atOnce(Schedule $schedule, mixed $id, ?IdType $type, DateTimeImmutable $from): \Closure
    {
        $policy = new CatchUpPolicy(onTimeTolerance: 0, minGap: Draw::pick([null, 0.001]));
        $since = -1.2 * min((float) $schedule->period, 1e8);

        return static function (Client $client) use ($schedule, $id, $type, $from, $policy, $since): mixed {
            $now = $client->assignSlot($schedule, $id, $from, idType: $type)->nextRun()->startTime;

            return $client->listDueRuns($schedule, [$id], Times::shifted('x', $now, $since), null, $now, $policy, idType: $type, returnErrors: true);
        };
    }
}
