<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use Offbeat\Internal\Check;
use Offbeat\Internal\ScheduleEncoder;

/** A job that locks an ID, with the schedule that it has today. */
final class ComparedJob
{
    public readonly DateInterval|int|float|null $runTime;

    /**
     * @param ?string $kind one of the kinds of the schedule, if it declares any
     * @param DateInterval|int|float|null $runTime how long a run takes at most. Default: the run time of the kind in
     *     the schedule; without one, runs are only kept from starting at the same time as others
     */
    public function __construct(
        public readonly Schedule|ScheduleReference|string $schedule,
        public readonly ?string $kind = null,
        DateInterval|int|float|null $runTime = null,
    ) {
        $this->runTime = Times::copy($runTime);
    }

    /** @internal */
    public function toMessage(string $field): V1\ComparedJob
    {
        $message = (new V1\ComparedJob())
            ->setSchedule(ScheduleEncoder::message($this->schedule, "$field.schedule"))
            ->setKind(Check::utf8("$field.kind", $this->kind ?? ''));
        if ($this->runTime !== null) {
            $message->setRunTime(Times::toDuration("$field.run_time", $this->runTime));
        }

        return $message;
    }
}
