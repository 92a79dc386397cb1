<?php

declare(strict_types=1);

// Synchronises bank accounts every 8 hours: a producer over MariaDB.
//
//   php producer.php migrate             once: the index for the slots of accounts
//   php producer.php bootstrap [START]   once a cycle: a job for each slot to come
//   php producer.php work                those that are due: each enqueues its accounts
//
// All may be run twice, at the same time, or be killed: the keys of the jobs see to it
// that nothing is enqueued twice. DATABASE is PDO's name of the database,
// DATABASE_USER and DATABASE_PASSWORD who asks it, OFFBEAT_ADDRESS the sidecar's.

use Offbeat\Client;
use Offbeat\Schedule;
use Offbeat\Sql\SqlColumn;
use Offbeat\Sql\SqlColumnType;
use Offbeat\Sql\SqlDialect;
use Offbeat\Sql\SqlParameterStyle;

require __DIR__ . '/../../clients/php/autoload.php';

const BATCH = 100;
const FORMAT = 'Y-m-d H:i:s'; // all times are in UTC

final class Producer
{
    private readonly Schedule $schedule;
    private readonly SqlColumn $accounts;

    public function __construct(private readonly PDO $db, private readonly Client $client)
    {
        $this->schedule = new Schedule(period: new DateInterval('PT8H'), slotCount: 32);
        $this->accounts = new SqlColumn(
            SqlDialect::Mariadb,
            table: 'account',
            name: 'id',
            type: SqlColumnType::UuidBytesSwapped,
            parameterStyle: SqlParameterStyle::QuestionMark,
        );
    }

    /** Makes the index that serves the predicates. */
    public function migrate(): void
    {
        [$slot] = $this->client->listSlots($this->schedule, sqlColumn: $this->accounts);
        array_map($this->db->exec(...), $slot->predicate->index->createStatements);
    }

    /** Plans a job for each slot of two cycles: so a bootstrap may be late, up to a cycle. */
    public function bootstrap(DateTimeImmutable $start): void
    {
        $slots = $this->client->listSlots($this->schedule, startTime: $start, endTime: $start->modify('+16 hours'));
        $insert = $this->db->prepare(
            'INSERT IGNORE INTO slot_job (cycle_index, slot_index, start_time, end_time) VALUES (?, ?, ?, ?)',
        );
        $this->db->beginTransaction();
        foreach ($slots as $slot) {
            $times = [$slot->startTime->format(FORMAT), $slot->endTime->format(FORMAT)];
            $insert->execute([$slot->cycleIndex, $slot->slotIndex, ...$times]);
        }
        $this->db->commit();
    }

    /** Runs the slot jobs that are due; one that dies stays, and is run again. */
    public function work(): void
    {
        $due = $this->db->query(
            'SELECT cycle_index, slot_index, start_time, end_time FROM slot_job
             WHERE start_time <= UTC_TIMESTAMP() AND NOT done ORDER BY start_time',
        )->fetchAll(PDO::FETCH_ASSOC);
        $finish = $this->db->prepare('UPDATE slot_job SET done = TRUE WHERE cycle_index = ? AND slot_index = ?');
        foreach ($due as $job) {
            $this->runSlot(self::utc($job['start_time']), self::utc($job['end_time']));
            $finish->execute([$job['cycle_index'], $job['slot_index']]);
        }
    }

    /** Enqueues the accounts of one slot, each for its own time. */
    private function runSlot(DateTimeImmutable $startTime, DateTimeImmutable $endTime): void
    {
        [$slot] = $this->client->listSlots($this->schedule, $startTime, $endTime, sqlColumn: $this->accounts);
        $select = $this->db->prepare("SELECT id FROM account WHERE {$slot->predicate->sql}");
        $select->execute($slot->predicate->parameters);
        $stored = $select->fetchAll(PDO::FETCH_COLUMN);
        // A queue that takes a unique key does what IGNORE does here.
        $insert = $this->db->prepare('INSERT IGNORE INTO job (run_key, account_id, run_at) VALUES (?, ?, ?)');
        foreach (array_chunk($stored, BATCH) as $batch) {
            $uuids = array_map(self::uuid(...), $batch);
            // An ID that cannot be assigned must not keep the others from their runs.
            $assigned = $this->client->assignSlots($this->schedule, $uuids, fromTime: $startTime, kind: 'bank-sync', returnErrors: true);
            foreach ($assigned->errors as $error) {
                fwrite(STDERR, "$error->field: $error->value is refused: $error->allowed\n");
            }
            $this->db->beginTransaction();
            foreach ($assigned->accepted() as $index => $row) {
                $insert->execute([$row->runKey, $batch[$index], $row->nextRunTime->format(FORMAT)]);
            }
            $this->db->commit();
        }
    }

    /** BIN_TO_UUID(x, 1) of MySQL. */
    private static function uuid(string $stored): string
    {
        $digits = str_split(bin2hex($stored), 4);
        [$high, $mid, $low1, $low2, $sequence, $node1, $node2, $node3] = $digits;

        return "$low1$low2-$mid-$high-$sequence-$node1$node2$node3";
    }

    private static function utc(string $time): DateTimeImmutable
    {
        return new DateTimeImmutable($time, new DateTimeZone('UTC'));
    }
}

$db = new PDO((string) getenv('DATABASE'), getenv('DATABASE_USER') ?: null, getenv('DATABASE_PASSWORD') ?: null);
$producer = new Producer($db, new Client());
$arguments = array_slice($argv, 1);
match (true) {
    $arguments === ['migrate'] => $producer->migrate(),
    ($arguments[0] ?? '') === 'bootstrap' && count($arguments) <= 2 => $producer->bootstrap(new DateTimeImmutable($arguments[1] ?? 'now')),
    $arguments === ['work'] => $producer->work(),
    default => throw new InvalidArgumentException('usage: php producer.php migrate | bootstrap [START] | work'),
};
