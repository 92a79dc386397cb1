<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Run;
use Offbeat\V1;

/**
 * The runs of a schedule: one of each ID in each cycle. Instants are in milliseconds since the Unix epoch.
 *
 * @internal
 */
final class Runs
{
    /** @param string $prefix the beginning of run keys */
    public function __construct(private readonly CheckedSchedule $schedule, private readonly string $prefix = '')
    {
    }

    /** The first cycle in which the run starts at or after an instant. */
    public function cycleFrom(int $offset, int $millis): int
    {
        $since = $millis - $this->schedule->anchorMillis - $offset * $this->schedule->tickMillis;

        return Whole::ceil($since, $this->schedule->periodMillis);
    }

    /** When the run of a cycle starts. */
    public function millis(int $offset, int $cycle): int
    {
        return $this->schedule->anchorMillis + $cycle * $this->schedule->periodMillis + $offset * $this->schedule->tickMillis;
    }

    /** Refuses an instant that leaves no room for the run before it and $count runs from it on. */
    public function checkFrom(Moment $from, int $count): void
    {
        $cycles = max($count, 1);
        $earliest = Moment::MIN_MILLIS + $this->schedule->periodMillis;
        $latest = Moment::END_MILLIS - $cycles * $this->schedule->periodMillis;
        $millis = $from->millisCeil();
        if ($millis < $earliest || $millis > $latest) {
            [$first, $last] = [Moment::ofMillis($earliest), Moment::ofMillis($latest)];
            $allowed = $first !== null && $last !== null && $earliest <= $latest
                ? "must be {$first->text()} to {$last->text()}, so that every run is in the years 1 to 9999"
                : "$cycles cycles of {$this->schedule->period()->text()} do not fit into the years 1 to 9999";
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'from_time', $from->text(), $allowed);
        }
    }

    public function message(Id $id, int $offset, int $cycle): V1\Run
    {
        $key = $id->isIdentity() ? "$this->prefix/$cycle/0/$id->canonical" : '';

        return (new V1\Run())
            ->setStartTime(Moment::messageOf($this->millis($offset, $cycle)))
            ->setCycleIndex($cycle)
            ->setRunKey($key)
            ->setRunId(Run::idOf($key));
    }
}
