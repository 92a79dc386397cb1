<?php

declare(strict_types=1);

// A consumer that says what it does, one JSON object a line, until the spread is closed:
//
//   php consumer.php ADDRESS SPREAD NAME pull|stream

use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\Settlement;

require __DIR__ . '/../../../clients/php/autoload.php';

$say = static function (array $event): void {
    fwrite(STDOUT, json_encode($event, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES) . "\n");
};

[, $address, $name, $consumerName, $mode] = $argv;
$client = new Offbeat\Client($address);
$spread = $client->namedSpread($name, feederCount: 4, lease: 1, maxAttempts: 1_000);
$onSettlement = static function (LeasedJob $job, Settlement $settlement) use ($say, $consumerName): void {
    $say([
        'event' => 'verdict',
        'consumer' => $consumerName,
        'group' => $job->groupId,
        'index' => $job->index,
        'epoch' => sprintf('%u', $job->epoch),
        'settlement' => strtoupper($settlement->value),
        'time' => microtime(true) * 1_000,
    ]);
};
$consumer = match ($mode) {
    'pull' => $spread->consumer($consumerName, batchSize: 8, patience: 120, onSettlement: $onSettlement),
    'stream' => $spread->stream($consumerName, window: 8, patience: 120, onSettlement: $onSettlement),
};

foreach ($consumer as $job) {
    $time = microtime(true) * 1_000;
    $say([
        'event' => 'begin',
        'consumer' => $consumerName,
        'group' => $job->groupId,
        'index' => $job->index,
        'job' => $job->job,
        'epoch' => sprintf('%u', $job->epoch),
        'sequence' => $job->sequence,
        'attempt' => $job->attempt,
        'time' => $time,
        'until' => $time + $job->leaseEndsIn() * 1_000,
    ]);
    usleep(random_int(0, 3_000));
    if (!$job->expired()) {
        $job->ack();
        $say([
            'event' => 'ack',
            'consumer' => $consumerName,
            'group' => $job->groupId,
            'index' => $job->index,
            'epoch' => sprintf('%u', $job->epoch),
            'time' => microtime(true) * 1_000,
        ]);
        $consumer->flush();
    }
}
$consumer->close();
