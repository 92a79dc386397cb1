<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use DateTimeInterface;
use Google\Protobuf\Internal\Message;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\MigrationPlan;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\SqlTarget;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's call about a change of schedule.
 *
 * @internal
 */
trait MigrationCalls
{
    /**
     * Plans how IDs change from one schedule to another at a cutover, so that none is lost, and none runs twice within
     * $minGap.
     *
     * @param iterable<int|float|string|\Stringable|\GMP> $ids the IDs to plan. Default: none; the answer then has what
     *     holds for all IDs
     * @param ?DateTimeInterface $cutoverTime Default: the next start of a cycle of the old schedule
     * @param DateInterval|int|float|null $minGap no ID runs twice within this span. Default: 0
     * @param ?SqlTarget $sqlTarget a column of IDs, to get the plan as conditions of SQL too
     * @param bool $returnErrors as in assignSlots()
     *
     * @throws BadIds if some IDs are refused; it carries the plan of the others
     * @throws OffbeatException
     */
    public function planMigration(
        Schedule|ScheduleReference|string $oldSchedule,
        Schedule|ScheduleReference|string $newSchedule,
        iterable $ids = [],
        ?DateTimeInterface $cutoverTime = null,
        DateInterval|int|float|null $minGap = null,
        ?string $kind = null,
        ?IdType $idType = null,
        ?SqlTarget $sqlTarget = null,
        bool $returnErrors = false,
        int|float|null $timeout = null,
    ): MigrationPlan {
        $request = (new V1\PlanMigrationRequest())
            ->setOldSchedule(ScheduleEncoder::message($oldSchedule, 'old_schedule'))
            ->setNewSchedule(ScheduleEncoder::message($newSchedule, 'new_schedule'))
            ->setKind(Check::utf8('kind', $kind ?? ''));
        if ($cutoverTime !== null) {
            $request->setCutoverTime(Times::toTimestamp($cutoverTime));
        }
        if ($minGap !== null) {
            $request->setMinGap(Times::toDuration('min_gap', $minGap));
        }
        if ($sqlTarget !== null) {
            $request->setSqlTarget($sqlTarget->toMessage());
        }
        $parts = [];
        $batches = new Batches($ids, $idType);
        $answers = $this->answers('PlanMigration', $request, ['ids' => 5], $batches, Columns::migration(...), $timeout);
        foreach ($answers as $part) {
            $parts[] = $part;
            // All batches have the same cutover, and the SQL comes with the first one.
            $request->setCutoverTime(Times::toTimestamp($part->cutoverTime))->clearSqlTarget();
        }
        if ($parts === []) {
            $bytes = $this->send('offbeat.v1.SlotService/PlanMigration', $request->serializeToString(), $timeout);

            return $this->read(static fn (): MigrationPlan => Columns::migration($bytes, [], 0, false));
        }
        $migration = MigrationPlan::joined($parts);
        if ($migration->ids->errors !== [] && !$returnErrors) {
            throw new BadIds($migration->ids->errors, $migration);
        }

        return $migration;
    }

    abstract private function answers(
        string $method,
        Message $request,
        array $fields,
        Batches $batches,
        \Closure $reader,
        int|float|null $timeout,
    ): \Generator;

    abstract private function send(string $method, string $bytes, int|float|null $timeout): string;

    abstract private function read(\Closure $reader): mixed;
}
