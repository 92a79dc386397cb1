<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Answer\Assignment;
use Offbeat\Answer\AuditFinding;
use Offbeat\Answer\AuditWarning;
use Offbeat\Answer\BucketShare;
use Offbeat\Answer\Description;
use Offbeat\Answer\ExpectedLoad;
use Offbeat\Answer\IdAudit;
use Offbeat\Answer\IdError;
use Offbeat\Answer\KindSlot;
use Offbeat\Answer\MigratedIds;
use Offbeat\Answer\Migration;
use Offbeat\Answer\MigrationPath;
use Offbeat\Answer\MigrationStep;
use Offbeat\Answer\Piece;
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
            lastRun: self::optionalRun($message->getLastRun()),
            nextRuns: self::runs($message->getNextRuns()),
            fingerprint: $message->getIdentity()->getFingerprint(),
            canonicalId: $reason->getCanonicalId(),
            reason: match ($reason->getRule()) {
                'bucket' => $reason->getBucket(),
                'fraction' => $reason->getFraction(),
                default => $reason->getHash(),
            },
            firstRun: self::optionalRun($message->getFirstRun()),
            furtherPieces: array_map(self::piece(...), iterator_to_array($message->getFurtherPieces(), false)),
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

        return new Predicate($message->getSql(), $parameters, self::index($index));
    }

    public static function description(V1\DescribeScheduleResponse $message): Description
    {
        $share = $message->getBucketShare();
        $slot = $message->getSlot();

        return new Description(
            fingerprint: $message->getIdentity()->getFingerprint(),
            runKeySchedule: $message->getIdentity()->getRunKeySchedule(),
            canonicalText: $message->getCanonicalText(),
            slotCount: $message->getSpec()->getSlotCount(),
            slotDuration: Times::fromDuration($message->getSlotDuration()),
            slot: $slot === null ? null : self::slot($slot),
            cycleStartTime: Times::fromTimestamp($message->getCycleStartTime()),
            cycleEndTime: Times::fromTimestamp($message->getCycleEndTime()),
            activeDuration: Times::fromDuration($message->getActiveDuration()),
            skippedShare: $message->getSkippedShare(),
            deferredShare: $message->getDeferredShare(),
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

    public static function migration(V1\PlanMigrationResponse $message, ?MigratedIds $ids): Migration
    {
        $indexes = iterator_to_array($message->getSqlIndexes(), false); // one or two
        $step = static fn (V1\MigrationStep $step): MigrationStep => new MigrationStep(
            startTime: Times::fromTimestamp($step->getStartTime()),
            endTime: Times::fromTimestamp($step->getEndTime()),
            byNewSchedule: $step->getByNewSchedule(),
            predicate: self::predicate($step->getPredicate(), $indexes[$step->getByNewSchedule() ? count($indexes) - 1 : 0]),
        );

        return new Migration(
            oldFingerprint: $message->getOldIdentity()->getFingerprint(),
            newFingerprint: $message->getNewIdentity()->getFingerprint(),
            cutoverTime: Times::fromTimestamp($message->getCutoverTime()),
            path: MigrationPath::fromMessage($message->getPath()),
            advice: $message->getAdvice(),
            longestGap: Times::fromOptional($message->getLongestGap()),
            ids: $ids,
            steps: array_map($step, iterator_to_array($message->getSteps(), false)),
            indexes: array_map(self::index(...), $indexes),
        );
    }

    /**
     * @param list<float> $slotLoads
     * @param list<IdError> $errors
     */
    public static function audit(V1\AuditIdsResponse $message, array $slotLoads, array $errors): IdAudit
    {
        $warning = static fn (V1\AuditWarning $warning): AuditWarning => new AuditWarning(
            AuditFinding::fromMessage($warning->getFinding()),
            $warning->getMessage(),
        );

        return new IdAudit(
            fingerprint: $message->getIdentity()->getFingerprint(),
            idCount: (int) $message->getIdCount(),
            slotLoads: $slotLoads,
            fullestSlotIndex: $message->getFullestSlotIndex(),
            fullestLoad: $message->getFullestLoad(),
            fullestOverMean: $message->getFullestOverMean(),
            expectedFullestMedian: (int) $message->getExpectedFullestMedian(),
            expectedFullestP99: (int) $message->getExpectedFullestP99(),
            emptySlotCount: $message->getEmptySlotCount(),
            chiSquare: $message->getChiSquare(),
            pValue: $message->hasPValue() ? $message->getPValue() : null,
            warnings: array_map($warning, iterator_to_array($message->getWarnings(), false)),
            errors: $errors,
        );
    }

    private static function index(V1\SqlIndex $message): SqlIndex
    {
        return new SqlIndex($message->getName(), iterator_to_array($message->getCreateStatements(), false));
    }

    private static function piece(V1\Piece $message): Piece
    {
        return new Piece(
            pieceIndex: $message->getPieceIndex(),
            slotIndex: $message->getSlotIndex(),
            slotOffset: Times::fromDuration($message->getSlotOffset()),
            cycleOffset: Times::fromDuration($message->getCycleOffset()),
            lastRun: self::optionalRun($message->getLastRun()),
            nextRuns: self::runs($message->getNextRuns()),
            firstRun: self::optionalRun($message->getFirstRun()),
        );
    }

    /**
     * @param iterable<V1\Run> $messages
     *
     * @return list<Run>
     */
    private static function runs(iterable $messages): array
    {
        return array_map(self::run(...), iterator_to_array($messages, false));
    }

    private static function optionalRun(?V1\Run $message): ?Run
    {
        return $message === null ? null : self::run($message);
    }

    private static function run(V1\Run $message): Run
    {
        $regular = $message->getRegularTime();

        return new Run(
            startTime: Times::fromTimestamp($message->getStartTime()),
            cycleIndex: (int) $message->getCycleIndex(),
            runKey: $message->getRunKey(),
            regularTime: $regular === null ? null : Times::fromTimestamp($regular),
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
