<?php

declare(strict_types=1);

// Measures the jobs per second of a spreader written by hand: a generator over open groups.

const JOBS = 1_000_000;
const GROUP = 20;

function groups(): Generator
{
    for ($start = 0; $start < JOBS; $start += GROUP) {
        yield range($start, $start + GROUP - 1);
    }
}

function spread(Generator $groups, int $feederCount): Generator
{
    $feeders = [];
    $turn = 0;
    $next = static function () use ($groups): ?array {
        $group = $groups->valid() ? $groups->current() : null;
        $groups->next();
        return $group;
    };
    while (count($feeders) < $feederCount && ($group = $next()) !== null) {
        $feeders[] = [$group, 0];
    }
    while ($feeders !== []) {
        if ($turn >= count($feeders)) {
            $turn = 0;
        }
        [$group, $index] = $feeders[$turn];
        if ($index < count($group)) {
            $feeders[$turn][1]++;
            $turn++;
            yield $group[$index];
        } elseif (($group = $next()) !== null) {
            $feeders[$turn] = [$group, 0];
        } else {
            array_splice($feeders, $turn, 1);
        }
    }
}

foreach (array_slice($argv, 1) as $feederCount) {
    $best = 0.0;
    for ($run = 0; $run < 3; $run++) {
        $begun = hrtime(true);
        $sum = 0;
        foreach (spread(groups(), (int) $feederCount) as $job) {
            $sum += $job;
        }
        assert($sum === JOBS * (JOBS - 1) / 2);
        $best = max($best, JOBS / ((hrtime(true) - $begun) / 1e9));
    }
    printf("PHP, feeders by hand, F = %d\t%.0f\n", $feederCount, $best);
}
