<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Assignment;
use Offbeat\AuditFinding;
use Offbeat\AuditWarning;
use Offbeat\BucketShare;
use Offbeat\ComparedPair;
use Offbeat\Comparison;
use Offbeat\DecidedBy;
use Offbeat\DescribedKind;
use Offbeat\Description;
use Offbeat\ExpectedLoad;
use Offbeat\IdAudit;
use Offbeat\IdError;
use Offbeat\KindSlot;
use Offbeat\ListedSchedule;
use Offbeat\MigratedIds;
use Offbeat\MigrationPath;
use Offbeat\MigrationPlan;
use Offbeat\MigrationStep;
use Offbeat\Piece;
use Offbeat\PlacementExplanation;
use Offbeat\Reciprocals;
use Offbeat\Run;
use Offbeat\ScheduleReference;
use Offbeat\Separation;
use Offbeat\Slot;
use Offbeat\SqlIndex;
use Offbeat\SqlPredicate;
use Offbeat\Times;
use Offbeat\V1;

/**
 * Converts protobuf messages to the answers of the client.
 *
 * @internal
 */
final class Answers
{
    /** The kind of a run if the call names none: the same as the sidecar's. */
    private const DEFAULT_KIND = 'default';

    public static function assignment(int|float|string|\GMP $id, ?string $kind, V1\AssignSlotResponse $message, DecidedBy $decidedBy): Assignment
    {
        $kind = (string) $kind === '' ? self::DEFAULT_KIND : $kind;
        $piece = static fn (V1\Piece $piece): Piece => self::piece($piece, $id, $kind);
        $explanation = $message->getExplanation();

        return new Assignment(
            id: $id,
            fingerprint: $message->getIdentity()->getFingerprint(),
            pieces: array_map($piece, iterator_to_array($message->getPieces(), false)),
            explanation: new PlacementExplanation(
                canonicalId: $explanation->getCanonicalId(),
                hash: $explanation->hasHash() ? $explanation->getHash() : null,
                bucket: $explanation->hasBucket() ? $explanation->getBucket() : null,
                fraction: $explanation->hasFraction() ? $explanation->getFraction() : null,
            ),
            decidedBy: $decidedBy,
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

    public static function predicate(V1\SqlPredicate $message, V1\SqlIndex $index): SqlPredicate
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

        return new SqlPredicate($message->getSql(), $parameters, self::index($index));
    }

    public static function description(V1\DescribeScheduleResponse $message, DecidedBy $decidedBy): Description
    {
        $share = $message->getBucketShare();
        $slot = $message->getSlot();

        return new Description(
            fingerprint: $message->getIdentity()->getFingerprint(),
            runKeyRoot: $message->getIdentity()->getRunKeyRoot(),
            canonicalText: $message->getCanonicalText(),
            maxCycleDuration: Times::fromDuration($message->getMaxCycleDuration()),
            slotCount: $message->getSpec()->getSlotCount(),
            slotDuration: Times::fromDuration($message->getSlotDuration()),
            slot: $slot === null ? null : self::slot($slot),
            cycleStartTime: Times::fromTimestamp($message->getCycleStartTime()),
            cycleEndTime: Times::fromTimestamp($message->getCycleEndTime()),
            activeDuration: Times::fromDuration($message->getActiveDuration()),
            skippedRatio: $message->getSkippedRatio(),
            deferredRatio: $message->getDeferredRatio(),
            bucketShare: $share === null ? null : new BucketShare(
                minBucketCount: $share->getMinBucketCount(),
                maxBucketCount: $share->getMaxBucketCount(),
                fullestToMeanRatio: $share->getFullestToMeanRatio(),
            ),
            slotLoad: self::load($message->getSlotLoad()),
            secondLoad: self::load($message->getSecondLoad()),
            kinds: array_map(self::describedKind(...), iterator_to_array($message->getKinds(), false)),
            timeZoneDatabase: $message->getIdentity()->getTimeZoneDatabase(),
            decidedBy: $decidedBy,
        );
    }

    public static function listedSchedule(V1\ListedSchedule $message): ListedSchedule
    {
        $reference = $message->getReference();

        return new ListedSchedule(
            reference: new ScheduleReference($reference->getName(), $reference->getVersion()),
            fingerprint: $message->getIdentity()->getFingerprint(),
            slotCount: $message->getSpec()->getSlotCount(),
            period: Times::fromOptional($message->getSpec()->getPeriod()),
            timeZoneDatabase: $message->getIdentity()->getTimeZoneDatabase(),
        );
    }

    public static function comparison(V1\CompareSchedulesResponse $message): Comparison
    {
        $pair = static fn (V1\ComparedPair $pair): ComparedPair => new ComparedPair(
            firstJobIndex: $pair->getFirstJobIndex(),
            secondJobIndex: $pair->getSecondJobIndex(),
            separation: Separation::fromMessage($pair->getSeparation()),
            message: $pair->getMessage(),
            firstToSecond: Times::fromOptional($pair->getFirstToSecond()),
            secondToFirst: Times::fromOptional($pair->getSecondToFirst()),
        );

        return new Comparison(
            Separation::fromMessage($message->getSeparation()),
            array_map($pair, iterator_to_array($message->getPairs(), false)),
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

    public static function migration(V1\PlanMigrationResponse $message, ?MigratedIds $ids): MigrationPlan
    {
        $indexes = iterator_to_array($message->getSqlIndexes(), false); // one or two
        $step = static fn (V1\MigrationStep $step): MigrationStep => new MigrationStep(
            startTime: Times::fromTimestamp($step->getStartTime()),
            endTime: Times::fromTimestamp($step->getEndTime()),
            byNewSchedule: $step->getByNewSchedule(),
            predicate: self::predicate($step->getPredicate(), $indexes[$step->getByNewSchedule() ? count($indexes) - 1 : 0]),
        );

        return new MigrationPlan(
            oldFingerprint: $message->getOldIdentity()->getFingerprint(),
            newFingerprint: $message->getNewIdentity()->getFingerprint(),
            cutoverTime: Times::fromTimestamp($message->getCutoverTime()),
            path: MigrationPath::fromMessage($message->getPath()),
            advice: $message->getAdvice(),
            maxGapBound: Times::fromOptional($message->getMaxGapBound()),
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
            fullestToMeanRatio: $message->getFullestToMeanRatio(),
            expectedLoad: self::load($message->getExpectedLoad()),
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

    private static function describedKind(V1\DescribedKind $message): DescribedKind
    {
        return new DescribedKind(
            name: $message->getName(),
            offsetSlotCount: $message->getOffsetSlotCount(),
            offset: Times::fromDuration($message->getOffset()),
            gapSlotCount: $message->getGapSlotCount(),
            runBudget: Times::fromDuration($message->getRunBudget()),
            worstCycleStartTime: Times::fromOptionalTimestamp($message->getWorstCycleStartTime()),
            runTime: Times::fromOptional($message->getRunTime()),
        );
    }

    private static function piece(V1\Piece $message, int|float|string|\GMP $id, string $kind): Piece
    {
        $index = $message->getPieceIndex();
        $run = static fn (?V1\Run $run): ?Run => $run === null ? null : self::run($id, $index, $kind, $run);

        return new Piece(
            pieceIndex: $index,
            slotIndex: $message->getSlotIndex(),
            slotOffset: Times::fromDuration($message->getSlotOffset()),
            cycleOffset: Times::fromDuration($message->getCycleOffset()),
            lastRun: $run($message->getLastRun()),
            nextRuns: array_map($run, iterator_to_array($message->getNextRuns(), false)),
            firstRun: $run($message->getFirstRun()),
        );
    }

    private static function run(int|float|string|\GMP $id, int $pieceIndex, string $kind, V1\Run $message): Run
    {
        $start = Times::fromTimestamp($message->getStartTime());

        return new Run(
            id: $id,
            runKey: $message->getRunKey(),
            runId: $message->getRunId(),
            nominalTime: Times::fromOptionalTimestamp($message->getNominalTime()),
            scheduledTime: $start, // none of these runs was missed
            startTime: $start,
            cycleIndex: (int) $message->getCycleIndex(),
            pieceIndex: $pieceIndex,
            kind: $kind,
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
            idSlotIndex: $message->getIdSlotIndex(),
            clockSlotIndex: $message->getClockSlotIndex(),
            gapSlotCount: $message->getGapSlotCount(),
            runBudget: Times::fromDuration($message->getRunBudget()),
        );
    }
}
