<?php

declare(strict_types=1);

// A consumer that reports its events as lines of JSON until the spread is closed:
//
//   php consumer.php ADDRESS SPREAD NAME pull|stream

use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\SettleOutcome;

require __DIR__ . '/../../../clients/php/autoload.php';

$say = static function (array $event): void {
    fwrite(STDOUT, json_encode($event, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES) . "\n");
};

[, $address, $name, $consumerId, $mode] = $argv;
$client = new Offbeat\Client($address);
$spread = $client->namedSpread($name, feederCount: 4, leaseDuration: 1, maxAttemptCount: 1_000);
$onOutcome = static function (LeasedJob $job, SettleOutcome $outcome) use ($say, $consumerId): void {
    $say([
        'event' => 'outcome',
        'consumer' => $consumerId,
        'group' => $job->groupId,
        'job_index' => $job->jobIndex,
        'epoch' => sprintf('%u', $job->epoch),
        'sequence' => $job->sequence,
        'attempt' => $job->attempt,
        'outcome' => strtoupper($outcome->value),
        'time' => microtime(true) * 1_000,
    ]);
};
$consumer = match ($mode) {
    'pull' => $spread->consumer($consumerId, batchSize: 8, patience: 120, onOutcome: $onOutcome),
    'stream' => $spread->stream($consumerId, window: 8, patience: 120, onOutcome: $onOutcome),
};

foreach ($consumer as $job) {
    $time = microtime(true) * 1_000;
    $say([
        'event' => 'begin',
        'consumer' => $consumerId,
        'group' => $job->groupId,
        'job_index' => $job->jobIndex,
        'payload' => $job->payload,
        'epoch' => sprintf('%u', $job->epoch),
        'sequence' => $job->sequence,
        'attempt' => $job->attempt,
        'time' => $time,
        'until' => $time + $job->leaseEndsIn() * 1_000,
    ]);
    usleep(random_int(0, random_int(1, 60) === 1 ? 900_000 : 3_000)); // a few jobs take most of their lease
    if (!$job->expired()) {
        // Before the ack, after which it may be killed at any time.
        $say([
            'event' => 'ack',
            'consumer' => $consumerId,
            'group' => $job->groupId,
            'job_index' => $job->jobIndex,
            'epoch' => sprintf('%u', $job->epoch),
            'sequence' => $job->sequence,
            'attempt' => $job->attempt,
            'time' => microtime(true) * 1_000,
        ]);
        $job->ack();
        $consumer->flush();
    }
}
$consumer->close();
