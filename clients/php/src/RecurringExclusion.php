<?php

declare(strict_types=1);

namespace Offbeat;

/**
 * A part of each unit of a calendar in which nothing may start. The calendar need not be that of the schedule. Of an
 * hour that occurs twice, both are excluded.
 */
final class RecurringExclusion
{
    /** @param ?ExclusionPolicy $policy ExclusionPolicy::Defer by default */
    public function __construct(
        public readonly CalendarCycle $calendar,
        public readonly CycleWindow $window,
        public readonly ?ExclusionPolicy $policy = null,
    ) {
    }

    /** @internal */
    public function toMessage(string $field): V1\Exclusion
    {
        $recurring = (new V1\RecurringExclusion())
            ->setCalendar($this->calendar->toMessage("$field.recurring.calendar"))
            ->setWindow($this->window->toMessage("$field.recurring.window"));

        return (new V1\Exclusion())
            ->setRecurring($recurring)
            ->setPolicy($this->policy?->toMessage() ?? V1\ExclusionPolicy::EXCLUSION_POLICY_UNSPECIFIED);
    }
}
