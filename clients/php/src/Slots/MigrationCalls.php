<?php

declare(strict_types=1);

namespace Offbeat\Slots;

use DateInterval;
use DateTimeInterface;
use Google\Protobuf\Internal\Message;
use Offbeat\Answer\Migration;
use Offbeat\Check;
use Offbeat\Columns;
use Offbeat\Encoded;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\OffbeatException;
use Offbeat\IdType;
use Offbeat\Schedule;
use Offbeat\ScheduleVersion;
use Offbeat\Sql\SqlColumn;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's question about a change of schedule.
 *
 * @internal
 */
trait MigrationCalls
{
    /**
     * How IDs go over from one schedule to another at a cutover, so that none is lost, and none runs
     * twice within a span.
     *
     * @param ?DateTimeInterface $cutoverTime Default: the next start of a cycle of the old schedule
     * @param DateInterval|int|float|null $minGap no ID runs twice within this. Default: 0
     * @param iterable<int|float|string|\Stringable|\GMP> $ids those to plan. Default: none, only what
     *     holds for all
     * @param ?SqlColumn $sqlColumn to have the plan as conditions of SQL, too
     * @param bool $returnErrors as in assignSlots()
     *
     * @throws BadIds if some IDs are refused; it carries the plan of the others
     * @throws OffbeatException
     */
    public function planMigration(
        Schedule|ScheduleVersion|string $oldSchedule,
        Schedule|ScheduleVersion|string $newSchedule,
        ?DateTimeInterface $cutoverTime = null,
        DateInterval|int|float|null $minGap = null,
        iterable $ids = [],
        ?string $kind = null,
        ?IdType $idType = null,
        ?SqlColumn $sqlColumn = null,
        bool $returnErrors = false,
        int|float|null $timeout = null,
    ): Migration {
        $request = (new V1\PlanMigrationRequest())
            ->setOldSchedule(Encoded::message($oldSchedule, 'old_schedule'))
            ->setNewSchedule(Encoded::message($newSchedule, 'new_schedule'))
            ->setKind(Check::utf8('kind', $kind ?? ''));
        if ($cutoverTime !== null) {
            $request->setCutoverTime(Times::toTimestamp($cutoverTime));
        }
        if ($minGap !== null) {
            $request->setMinGap(Times::toDuration('min_gap', $minGap));
        }
        if ($sqlColumn !== null) {
            $request->setSqlColumn($sqlColumn->toMessage());
        }
        $parts = [];
        $batches = new Batches($ids, $idType);
        $answers = $this->answers('PlanMigration', $request, ['ids' => 5], $batches, Columns::migration(...), $timeout);
        foreach ($answers as $part) {
            $parts[] = $part;
            // All batches go over at one time, and the SQL is that of the first.
            $request->setCutoverTime(Times::toTimestamp($part->cutoverTime))->clearSqlColumn();
        }
        if ($parts === []) {
            $bytes = $this->send('SlotService/PlanMigration', $request->serializeToString(), $timeout);

            return $this->read(static fn (): Migration => Columns::migration($bytes, [], 0, false));
        }
        $migration = Migration::joined($parts);
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
