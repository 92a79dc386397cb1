<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Answer\Assignment;
use Offbeat\Answer\BucketShare;
use Offbeat\Answer\Description;
use Offbeat\Answer\ExpectedLoad;
use Offbeat\Answer\KindSlot;
use Offbeat\Answer\Predicate;
use Offbeat\Answer\Reciprocals;
use Offbeat\Answer\Run;
use Offbeat\Answer\Slot;
use Offbeat\Answer\SqlIndex;

/**
 * Messages, as what they stand for.
 *
 * @internal
 */
final class Answers
{
    public static function assignment(int|float|string|\GMP $id, V1\AssignSlotResponse $message): Assignment
    {
        $reason = $message->getReason();

        return new Assignment(
            id: $id,
            slotIndex: $message->getSlotIndex(),
            slotOffset: Times::fromDuration($message->getSlotOffset()),
            cycleOffset: Times::fromDuration($message->getCycleOffset()),
            lastRun: self::run($message->getLastRun()),
            nextRuns: array_map(self::run(...), iterator_to_array($message->getNextRuns(), false)),
            fingerprint: $message->getIdentity()->getFingerprint(),
            canonicalId: $reason->getCanonicalId(),
            reason: match ($reason->getRule()) {
                'bucket' => $reason->getBucket(),
                'fraction' => $reason->getFraction(),
                default => $reason->getHash(),
            },
        );
    }

    public static function slot(V1\Slot $message, ?V1\SqlIndex $index = null): Slot
    {
        $predicate = $message->getPredicate();

        return new Slot(
            slotIndex: $message->getSlotIndex(),
            cycleIndex: (int) $message->getCycleIndex(),
            startTime: Times::fromTimestamp($message->getStartTime()),
            endTime: Times::fromTimestamp($message->getEndTime()),
            predicate: $predicate === null ? null : self::predicate($predicate, $index),
        );
    }

    public static function predicate(V1\SqlPredicate $message, V1\SqlIndex $index): Predicate
    {
        $parameters = [];
        foreach ($message->getParameters() as $parameter) {
            $value = match ($parameter->getValue()) {
                'integer' => (int) $parameter->getInteger(),
                'real' => sprintf('%.*H', -1, $parameter->getReal()),
                default => $parameter->getText(),
            };
            if ($parameter->getName() === '') {
                $parameters[] = $value;
            } else {
                $parameters[$parameter->getName()] = $value;
            }
        }

        $statements = iterator_to_array($index->getCreateStatements(), false);

        return new Predicate($message->getSql(), $parameters, new SqlIndex($index->getName(), $statements));
    }

    public static function description(V1\DescribeScheduleResponse $message): Description
    {
        $share = $message->getBucketShare();

        return new Description(
            fingerprint: $message->getIdentity()->getFingerprint(),
            canonicalText: $message->getCanonicalText(),
            slotCount: $message->getSpec()->getSlotCount(),
            slotDuration: Times::fromDuration($message->getSlotDuration()),
            slot: self::slot($message->getSlot()),
            cycleStartTime: Times::fromTimestamp($message->getCycleStartTime()),
            bucketShare: $share === null ? null : new BucketShare(
                minBucketCount: $share->getMinBucketCount(),
                maxBucketCount: $share->getMaxBucketCount(),
                imbalance: $share->getImbalance(),
            ),
            slotLoad: self::load($message->getSlotLoad()),
            secondLoad: self::load($message->getSecondLoad()),
        );
    }

    public static function reciprocals(V1\GetReciprocalSlotsResponse $message): Reciprocals
    {
        return new Reciprocals(
            kinds: array_map(self::kindSlot(...), iterator_to_array($message->getKinds(), false)),
            gapSlotCount: $message->getGapSlotCount(),
            gap: Times::fromDuration($message->getGap()),
            runBudget: Times::fromDuration($message->getRunBudget()),
            independentRunBudget: Times::fromDuration($message->getIndependentRunBudget()),
        );
    }

    private static function run(V1\Run $message): Run
    {
        return new Run(
            startTime: Times::fromTimestamp($message->getStartTime()),
            cycleIndex: (int) $message->getCycleIndex(),
            runKey: $message->getRunKey(),
        );
    }

    private static function load(?V1\ExpectedLoad $message): ?ExpectedLoad
    {
        return $message === null ? null : new ExpectedLoad(
            mean: $message->getMean(),
            fullestMedian: (int) $message->getFullestMedian(),
            fullestP99: (int) $message->getFullestP99(),
        );
    }

    private static function kindSlot(V1\KindSlot $message): KindSlot
    {
        return new KindSlot(
            kindIndex: $message->getKindIndex(),
            offsetSlotCount: $message->getOffsetSlotCount(),
            offset: Times::fromDuration($message->getOffset()),
            userSlotIndex: $message->getUserSlotIndex(),
            timeSlotIndex: $message->getTimeSlotIndex(),
            gapSlotCount: $message->getGapSlotCount(),
            runBudget: Times::fromDuration($message->getRunBudget()),
        );
    }
}
