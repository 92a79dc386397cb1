<?php

declare(strict_types=1);

namespace Offbeat;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Internal\Check;

/**
 * A cycle that is cut into slots, and a placement of IDs in it. null stands for the sidecar's default.
 *
 *     new Offbeat\Schedule(period: new DateInterval('PT8H'), slotCount: 96)
 *
 * Most values are checked when the schedule is first used: an invalid schedule then throws InvalidArgument.
 */
final class Schedule
{
    public readonly DateInterval|int|float|null $period;
    public readonly DateInterval|int|float|null $resolution;
    public readonly ?DateTimeImmutable $anchorTime;
    /** @var list<CycleWindow> */
    public readonly array $activeWindows;
    /** @var list<DatedExclusion|RecurringExclusion> */
    public readonly array $exclusions;
    /** @var list<Kind> */
    public readonly array $kinds;
    /** @var list<array{string, string}> */
    public readonly array $kindConflicts;
    public readonly DateInterval|int|float|null $catchUpSpan;

    /**
     * @param DateInterval|int|float|null $period length of the cycle, as an interval of fixed length or
     *     in seconds: 1 ms to 3,660 days of elapsed time (a day is 24 hours, also when the clocks change)
     * @param ?int $slotCount slots in a cycle; must divide the length of the cycle, or what active windows leave of it.
     *     Default: the greatest common divisor of that length in seconds and 256
     * @param ?Placement $placement Placement::Hash by default
     * @param string $salt with Placement::Hash only: a namespace
     * @param ?TwisterProfile $profile Placement::Twister only: TwisterProfile::Ruby by default
     * @param ?int $bucketCount Placement::Twister only: 256 (the default) or 65,536
     * @param DateInterval|int|float|null $resolution length of a tick: 1 second (the default) or a
     *     whole fraction of it, down to 0.001
     * @param ?DateTimeInterface $anchorTime when cycle 0 starts. Default: the Unix epoch
     * @param ?CalendarCycle $calendar instead of a period: a day, week or month by the wall clock
     * @param array<CycleWindow> $activeWindows the parts of the cycle that may be used, in order; IDs are spread over
     *     them. Default: the whole cycle
     * @param array<DatedExclusion|RecurringExclusion> $exclusions times at which nothing may start; IDs whose time is
     *     outside of them do not move. Default: none
     * @param ?int $weightQuantum the weight up to which an ID is one piece, in a unit of your choice. Default: no
     *     weights
     * @param array<Kind|string> $kinds the kinds of job that must not meet on one ID, in order: names, or a Kind with a
     *     run time. Each kind has a place of its own, and every call about runs must name one. Default: none; a kind is
     *     then a label that moves nothing
     * @param ?KindSpacing $kindSpacing KindSpacing::Even by default
     * @param array<array{string, string}> $kindConflicts which kinds must not meet, if others may, as pairs of names.
     *     Default: no two kinds may meet
     * @param DateInterval|int|float|null $catchUpSpan with kinds only: the part of a cycle over which late runs are
     *     spread, so that kinds keep apart when they are late. Default: an eighth of the cycle, or what the kinds need
     *     or allow
     */
    public function __construct(
        DateInterval|int|float|null $period = null,
        public readonly ?int $slotCount = null,
        public readonly ?Placement $placement = null,
        public readonly string $salt = '',
        public readonly ?TwisterProfile $profile = null,
        public readonly ?int $bucketCount = null,
        DateInterval|int|float|null $resolution = null,
        ?DateTimeInterface $anchorTime = null,
        public readonly ?CalendarCycle $calendar = null,
        array $activeWindows = [],
        array $exclusions = [],
        public readonly ?int $weightQuantum = null,
        array $kinds = [],
        public readonly ?KindSpacing $kindSpacing = null,
        array $kindConflicts = [],
        DateInterval|int|float|null $catchUpSpan = null,
    ) {
        if ($period !== null && $calendar !== null) { // a message would silently keep the last one
            throw InvalidArgument::refused(
                'schedule.spec.calendar',
                $calendar,
                'must not be set together with a period',
                'ERROR_REASON_CONTRADICTORY',
            );
        }
        // Copies, because callers could change the originals.
        $this->period = Times::copy($period);
        $this->resolution = Times::copy($resolution);
        $this->anchorTime = $anchorTime === null ? null : DateTimeImmutable::createFromInterface($anchorTime);
        $this->activeWindows = array_map(static fn (CycleWindow $window) => $window, array_values($activeWindows));
        $this->exclusions = array_map(
            static fn (DatedExclusion|RecurringExclusion $exclusion) => $exclusion,
            array_values($exclusions),
        );
        $this->kinds = array_map(
            static fn (mixed $kind): Kind => $kind instanceof Kind ? $kind : new Kind($kind),
            array_values($kinds),
        );
        $this->kindConflicts = self::pairs(array_values($kindConflicts));
        $this->catchUpSpan = Times::copy($catchUpSpan);
    }

    /** @internal */
    public function toMessage(string $field = 'schedule'): V1\Schedule
    {
        $field .= '.spec';
        $spec = new V1\ScheduleSpec();
        if ($this->period !== null) {
            $spec->setPeriod(Times::toDuration("$field.period", $this->period));
        }
        if ($this->calendar !== null) {
            $spec->setCalendar($this->calendar->toMessage("$field.calendar"));
        }
        if ($this->slotCount !== null) {
            $spec->setSlotCount(Check::int32("$field.slot_count", $this->slotCount));
        }
        if ($this->placement !== null) {
            $spec->setPlacement($this->placement->toMessage());
        }
        $spec->setSalt(Check::utf8("$field.salt", $this->salt));
        if ($this->profile !== null) {
            $spec->setProfile($this->profile->toMessage());
        }
        if ($this->bucketCount !== null) {
            $spec->setBucketCount(Check::int32("$field.bucket_count", $this->bucketCount));
        }
        if ($this->resolution !== null) {
            $spec->setResolution(Times::toDuration("$field.resolution", $this->resolution));
        }
        if ($this->anchorTime !== null) {
            $spec->setAnchorTime(Times::toTimestamp($this->anchorTime));
        }
        if ($this->weightQuantum !== null) {
            $spec->setWeightQuantum($this->weightQuantum);
        }
        $spec->setActiveWindows(self::messages("$field.active_windows", $this->activeWindows));
        $spec->setExclusions(self::messages("$field.exclusions", $this->exclusions));
        $spec->setKinds(self::messages("$field.kinds", $this->kinds));
        if ($this->kindSpacing !== null) {
            $spec->setKindSpacing($this->kindSpacing->toMessage());
        }
        $conflicts = [];
        foreach ($this->kindConflicts as $place => [$first, $second]) {
            $conflicts[] = (new V1\KindConflict())
                ->setFirstKind(Check::utf8("$field.kind_conflicts[$place].first_kind", $first))
                ->setSecondKind(Check::utf8("$field.kind_conflicts[$place].second_kind", $second));
        }
        $spec->setKindConflicts($conflicts);
        if ($this->catchUpSpan !== null) {
            $spec->setCatchUpSpan(Times::toDuration("$field.catch_up_span", $this->catchUpSpan));
        }

        return (new V1\Schedule())->setSpec($spec);
    }

    /**
     * @param list<mixed> $pairs
     *
     * @return list<array{string, string}>
     */
    private static function pairs(array $pairs): array
    {
        foreach ($pairs as $place => $pair) {
            $isPair = is_array($pair) && array_is_list($pair) && count($pair) === 2 && is_string($pair[0]) && is_string($pair[1]);
            if (!$isPair) {
                throw InvalidArgument::refused(
                    "schedule.spec.kind_conflicts[$place]",
                    $pair,
                    "must be a pair of names: ['import', 'export']",
                );
            }
        }

        return $pairs;
    }

    /** @param list<CycleWindow|DatedExclusion|RecurringExclusion|Kind> $parts */
    private static function messages(string $field, array $parts): array
    {
        $messages = [];
        foreach ($parts as $place => $part) {
            $messages[] = $part->toMessage("{$field}[$place]");
        }

        return $messages;
    }
}
