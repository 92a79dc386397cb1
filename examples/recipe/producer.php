<?php

declare(strict_types=1);

// Imports and exports bank accounts every 8 hours: a producer over MariaDB.
//
//   php producer.php begin [START]   once: creates the index, and sets the first watermarks
//   php producer.php tick [NOW]      every minute: enqueues what starts until the next minute
//
// Both can run twice, run concurrently, or be killed: each job has the ID of its run, so
// nothing is enqueued twice. DATABASE is PDO's name of the database, with DATABASE_USER and
// DATABASE_PASSWORD; OFFBEAT_ADDRESS is the sidecar's.

use Offbeat\Client;
use Offbeat\Schedule;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlParameterStyle;
use Offbeat\SqlTarget;

require __DIR__ . '/../../clients/php/autoload.php';

const BATCH = 100;
const FORMAT = 'Y-m-d H:i:s.v'; // all times are in UTC
/** Both lock the account, so they must not meet on one account. */
const KINDS = ['import', 'export'];
/** Seconds between two ticks: a job is in the queue before it is due. */
const LOOK_AHEAD = 60;

final class Producer
{
    private readonly Schedule $schedule;
    private readonly SqlTarget $accounts;

    public function __construct(private readonly PDO $db, private readonly Client $client)
    {
        $this->schedule = new Schedule(period: new DateInterval('PT8H'), kinds: KINDS);
        $this->accounts = new SqlTarget(
            SqlDialect::Mariadb,
            table: 'account',
            column: 'id',
            columnType: SqlColumnType::UuidBytesSwapped,
            parameterStyle: SqlParameterStyle::QuestionMark,
        );
    }

    /** Makes the index that serves the predicates, and the watermarks. */
    public function begin(DateTimeImmutable $start): void
    {
        $predicate = $this->client->windowPredicate($this->schedule, $this->accounts, $start, $start, kind: KINDS[0]);
        array_map($this->db->exec(...), $predicate->index->createStatements);
        $insert = $this->db->prepare('INSERT IGNORE INTO watermark (kind, enqueued_until) VALUES (?, ?)');
        foreach (KINDS as $kind) {
            $insert->execute([$kind, $start->format(FORMAT)]);
        }
    }

    /** Enqueues the runs of each kind that start until the next tick, and those that were missed. */
    public function tick(DateTimeImmutable $now): void
    {
        $select = $this->db->prepare('SELECT enqueued_until FROM watermark WHERE kind = ?');
        foreach (KINDS as $kind) {
            $select->execute([$kind]);
            $this->enqueue($kind, self::utc($select->fetchColumn()), $now);
        }
    }

    /** Enqueues one kind, batch by batch. If this process dies, the next tick repeats it. */
    private function enqueue(string $kind, DateTimeImmutable $watermark, DateTimeImmutable $now): void
    {
        $end = $now->modify('+' . LOOK_AHEAD . ' seconds');
        if ($watermark >= $end) {
            return;
        }
        $start = max($watermark, $end->modify('-8 hours')); // after a whole cycle, all accounts
        $predicate = $this->client->windowPredicate($this->schedule, $this->accounts, $start, $end, kind: $kind);
        $select = $this->db->prepare("SELECT id FROM account WHERE {$predicate->sql}");
        $select->execute($predicate->parameters);
        $stored = $select->fetchAll(PDO::FETCH_COLUMN);
        // An ID that cannot be assigned must not block the runs of the others.
        $due = $this->client->listDueRuns(
            $this->schedule,
            array_map(self::uuid(...), $stored),
            watermark: $watermark,
            nowTime: $now,
            lookAhead: LOOK_AHEAD,
            kind: $kind,
            returnErrors: true,
        );
        foreach ($due->errors as $error) {
            fwrite(STDERR, "$error->field: $error->value is refused: $error->allowed\n");
        }
        // A queue with unique job IDs does what IGNORE does here.
        $insert = $this->db->prepare('INSERT IGNORE INTO job (run_id, kind, account_id, run_at) VALUES (?, ?, ?, ?)');
        foreach (array_chunk(iterator_to_array($due), BATCH, true) as $batch) {
            $this->db->beginTransaction();
            foreach ($batch as $index => $run) {
                $account = $stored[$due->idIndexes[$index]];
                $insert->execute([$run->runId, $kind, $account, $run->startTime->format(FORMAT)]);
            }
            $this->db->commit();
        }
        // Only after all are enqueued; and another tick may have got further.
        $this->db->prepare('UPDATE watermark SET enqueued_until = GREATEST(enqueued_until, ?) WHERE kind = ?')
            ->execute([$due->nextWatermarkTime->format(FORMAT), $kind]);
        echo "$kind: ", count($due), " jobs, $due->lateRunCount of them late; $due->supersededRunCount superseded\n";
    }

    /** BIN_TO_UUID(x, 1) of MySQL. */
    private static function uuid(string $stored): string
    {
        $digits = str_split(bin2hex($stored), 4);
        [$high, $mid, $low1, $low2, $sequence, $node1, $node2, $node3] = $digits;

        return "$low1$low2-$mid-$high-$sequence-$node1$node2$node3";
    }

    public static function utc(string $time): DateTimeImmutable
    {
        return (new DateTimeImmutable($time, new DateTimeZone('UTC')))->setTimezone(new DateTimeZone('UTC'));
    }
}

$db = new PDO((string) getenv('DATABASE'), getenv('DATABASE_USER') ?: null, getenv('DATABASE_PASSWORD') ?: null);
$producer = new Producer($db, new Client());
$arguments = array_slice($argv, 1);
$instant = Producer::utc($arguments[1] ?? 'now');
match (count($arguments) <= 2 ? $arguments[0] ?? '' : '') {
    'begin' => $producer->begin($instant),
    'tick' => $producer->tick($instant),
    default => throw new InvalidArgumentException('usage: php producer.php begin [START] | tick [NOW]'),
};
