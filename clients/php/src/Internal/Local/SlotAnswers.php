<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\NeedsSidecar;
use Offbeat\V1;

/**
 * Answers about a schedule, its slots and one ID.
 *
 * @internal
 */
final class SlotAnswers
{
    private const MAX_NEXT_RUNS = 1_000;
    private const MAX_SLOTS = 4_096;
    private const MAX_PREDICATE_BYTES = 3 << 20;

    public static function describe(CheckedSchedule $schedule, V1\DescribeScheduleRequest $request, Moment $now): V1\DescribeScheduleResponse
    {
        if ($request->hasPopulation()) {
            throw new NeedsSidecar('the load of a population needs a sidecar: clients know no binomials');
        }
        $at = self::moment('at_time', $request->getAtTime(), $now);
        $slot = self::slot($schedule, self::slotsBefore($schedule, $at->millisFloor() + 1) - 1, 'at_time', $at->text());
        $start = $schedule->anchorMillis + $schedule->cycleAt($at->millisFloor()) * $schedule->periodMillis;

        $response = (new V1\DescribeScheduleResponse())
            ->setIdentity($schedule->identity())
            ->setSpec($schedule->spec())
            ->setCanonicalText($schedule->canonicalText)
            ->setSlotDuration($schedule->ticks($schedule->slotTicks)->message())
            ->setSlot($slot)
            ->setActiveDuration($schedule->period()->message())
            ->setMaxCycleDuration($schedule->period()->message())
            ->setKinds(self::kinds($schedule));
        if (($time = Moment::messageOf($start)) !== null) {
            $response->setCycleStartTime($time);
        }
        if (($time = Moment::messageOf($start + $schedule->periodMillis)) !== null) {
            $response->setCycleEndTime($time);
        }
        if ($schedule->bucketCount !== null) {
            $most = Whole::ceil($schedule->bucketCount, $schedule->slotCount);
            $response->setBucketShare(
                (new V1\BucketShare())
                    ->setMinBucketCount(intdiv($schedule->bucketCount, $schedule->slotCount))
                    ->setMaxBucketCount($most)
                    ->setFullestToMeanRatio($most / ($schedule->bucketCount / $schedule->slotCount)),
            );
        }

        return $response;
    }

    public static function assign(CheckedSchedule $schedule, V1\AssignSlotRequest $request, Moment $now): V1\AssignSlotResponse
    {
        $reason = match (true) {
            $request->hasWeight() => 'a weight needs a sidecar: clients decide IDs of one piece alone',
            $request->getNewId() !== null => 'the first run of a new ID needs a sidecar',
            $request->getTimeZone() !== '' => 'a time zone needs a sidecar: clients decide elapsed periods alone',
            default => null,
        };
        if ($reason !== null) {
            throw new NeedsSidecar($reason);
        }
        [$prefix, $rotation] = $schedule->ofKind($request->getKind());
        $id = Id::ofMessage($request->getId());
        $count = $request->hasNextRunCount() ? $request->getNextRunCount() : 1;
        if ($count < 0 || $count > self::MAX_NEXT_RUNS) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'next_run_count', $count, 'must be 0 to 1000 runs');
        }
        $from = self::moment('from_time', $request->getFromTime(), $now);
        $runs = new Runs($schedule, $prefix);
        $runs->checkFrom($from, $count);
        self::checkLabel($request->getKind());
        $place = (new Placing($schedule, $rotation))->place($id, 'id');
        $next = $runs->cycleFrom($place->offset, $from->millisCeil());
        $nextRuns = [];
        for ($cycle = $next; $cycle < $next + $count; ++$cycle) {
            $nextRuns[] = $runs->message($id, $place->offset, $cycle);
        }
        $piece = (new V1\Piece())
            ->setSlotIndex(intdiv($place->offset, $schedule->slotTicks))
            ->setSlotOffset($schedule->ticks($place->offset % $schedule->slotTicks)->message())
            ->setCycleOffset($schedule->ticks($place->offset)->message())
            ->setLastRun($runs->message($id, $place->offset, $next - 1))
            ->setNextRuns($nextRuns);
        $explanation = (new V1\PlacementExplanation())->setCanonicalId($id->canonical);

        return (new V1\AssignSlotResponse())
            ->setIdentity($schedule->identity())
            ->setPieces([$piece])
            ->setExplanation(match (true) {
                $place->bucket !== null => $explanation->setBucket($place->bucket),
                $place->hash !== '' => $explanation->setHash($place->hash),
                default => $explanation->setFraction($id->fraction),
            });
    }

    /** @param \Closure(): CheckedSchedule $schedule */
    public static function list(\Closure $schedule, V1\ListSlotsRequest $request, Moment $now): V1\ListSlotsResponse
    {
        $target = $request->getSqlTarget();
        Membership::checkTarget($target);
        $schedule = $schedule();
        $rotation = $target === null && $request->getKind() === '' ? 0 : $schedule->ofKind($request->getKind())[1];
        $membership = $target === null ? null : new Membership($schedule, $target, $rotation);
        $start = self::moment('start_time', $request->getStartTime(), $now);
        $first = self::slotsBefore($schedule, $start->millisCeil());
        if ($request->getEndTime() === null) {
            $behind = $first + $schedule->slotCount;
            $shown = "one period after {$start->text()}";
        } else {
            $end = Moment::ofMessage('end_time', $request->getEndTime());
            self::checkOrder($start, $end);
            $behind = self::slotsBefore($schedule, $end->millisCeil());
            $shown = $end->text();
        }
        if ($behind - $first > self::MAX_SLOTS) {
            $value = "$shown (a window of " . ($behind - $first) . ' slots)';
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'end_time', $value, 'the window must hold 0 to 4096 slots: end it earlier');
        }
        [$slots, $bytes] = [[], 0];
        for ($number = $first; $number < $behind; ++$number) {
            $slots[] = self::slot($schedule, $number, 'end_time', $shown);
        }
        foreach ($membership === null ? [] : $slots as $slot) {
            $slot->setPredicate($membership->slot($slot->getSlotIndex()));
            if (($bytes += strlen($slot->getPredicate()->getSql())) > self::MAX_PREDICATE_BYTES) {
                $allowed = 'their predicates must be 0 to 3145728 bytes: end it earlier';
                throw Refusal::of(Refusal::OUT_OF_RANGE, 'end_time', 'a window of ' . count($slots) . ' slots', $allowed);
            }
        }
        $response = (new V1\ListSlotsResponse())->setIdentity($schedule->identity())->setSlots($slots);

        return $membership === null ? $response : $response->setSqlIndex($membership->index);
    }

    public static function window(
        CheckedSchedule $schedule,
        V1\GetWindowPredicateRequest $request,
        Moment $now,
    ): V1\GetWindowPredicateResponse {
        if (count($request->getTimeZones()) > 0) {
            throw new NeedsSidecar('time zones need a sidecar: clients decide elapsed periods alone');
        }
        [, $rotation] = $schedule->ofKind($request->getKind());
        $target = $request->getSqlTarget();
        Membership::checkTarget($target);
        if ($target === null) {
            throw Refusal::of(Refusal::MISSING, 'sql_target', 'nothing', 'it must be set');
        }
        $membership = new Membership($schedule, $target, $rotation);
        $start = self::moment('start_time', $request->getStartTime(), $now);
        if ($request->getEndTime() === null) {
            throw Refusal::of(Refusal::MISSING, 'end_time', 'nothing', 'must be at most a period after start_time');
        }
        $end = Moment::ofMessage('end_time', $request->getEndTime());
        self::checkOrder($start, $end);

        return (new V1\GetWindowPredicateResponse())
            ->setIdentity($schedule->identity())
            ->setPredicate($membership->window($start, $end))
            ->setSqlIndex($membership->index);
    }

    /** If a schedule declares no kinds, a kind is a label: any text that run keys can contain. */
    public static function checkLabel(string $kind): void
    {
        if ($kind !== '') {
            Names::checkPart('kind', $kind);
        }
    }

    public static function moment(string $field, ?\Google\Protobuf\Timestamp $time, Moment $now): Moment
    {
        return $time === null ? $now : Moment::ofMessage($field, $time);
    }

    private static function checkOrder(Moment $start, Moment $end): void
    {
        if ($end->compare($start) < 0) {
            $allowed = "must not be before start_time, {$start->text()}";
            throw Refusal::of(Refusal::CONTRADICTORY, 'end_time', $end->text(), $allowed);
        }
    }

    /** The number of slots that start before an instant, counted from the anchor. */
    private static function slotsBefore(CheckedSchedule $schedule, int $millis): int
    {
        return Whole::ceil($millis - $schedule->anchorMillis, $schedule->slotMillis);
    }

    private static function slot(CheckedSchedule $schedule, int $number, string $field, string $shown): V1\Slot
    {
        $start = Moment::messageOf($schedule->anchorMillis + $number * $schedule->slotMillis);
        $end = Moment::messageOf($schedule->anchorMillis + ($number + 1) * $schedule->slotMillis);
        if ($start === null || $end === null) {
            $allowed = 'must be such that its slots start and end in ' . Moment::RANGE;
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $shown, $allowed);
        }

        return (new V1\Slot())
            ->setSlotIndex(Whole::rest($number, $schedule->slotCount))
            ->setCycleIndex(Whole::floor($number, $schedule->slotCount))
            ->setStartTime($start)
            ->setEndTime($end);
    }

    /** @return list<V1\DescribedKind> */
    private static function kinds(CheckedSchedule $schedule): array
    {
        $kind = static function (Kind $kind) use ($schedule): V1\DescribedKind {
            $message = (new V1\DescribedKind())
                ->setName($kind->name)
                ->setOffsetSlotCount($kind->offset)
                ->setOffset($schedule->ticks($kind->offset * $schedule->slotTicks)->message())
                ->setGapSlotCount($kind->gap)
                ->setRunBudget($schedule->ticks($kind->gap * $schedule->slotTicks)->message());

            return $kind->runTime === null ? $message : $message->setRunTime($kind->runTime->message());
        };

        return array_map($kind, $schedule->kinds->list ?? []);
    }
}
