<?php

declare(strict_types=1);

// A producer that reports its events as lines of JSON:
//
//   php producer.php ADDRESS SPREAD PREFIX GROUP_COUNT JOBS_PER_GROUP SECONDS_TO_SPREAD_OVER

require __DIR__ . '/../../../clients/php/autoload.php';

$say = static function (array $event): void {
    fwrite(STDOUT, json_encode($event, JSON_THROW_ON_ERROR | JSON_UNESCAPED_SLASHES) . "\n");
};

[, $address, $spread, $prefix, $groupCount, $jobsPerGroup, $seconds] = $argv;
$client = new Offbeat\Client($address);
$producer = $client->namedSpread($spread, feederCount: 4, leaseDuration: 1, maxAttemptCount: 1_000)->producer(patience: 120);

$settled = static function (float $timeout) use ($producer, $say): void {
    try {
        foreach ($producer->wait(timeout: $timeout) as $status) {
            $say(['event' => 'settled', 'group' => $status->groupId, 'dead_letters' => $status->deadLetterCount]);
        }
    } catch (Offbeat\Exception\DeadlineExceeded) {
        // not all of them yet
    }
};

$begun = microtime(true);
for ($number = 0; $number < (int) $groupCount; ++$number) {
    $group = "$prefix-$number";
    $jobs = [];
    for ($index = 0; $index < (int) $jobsPerGroup; ++$index) {
        $jobs[] = "$group/$index";
    }
    $say(['event' => 'submitting', 'group' => $group, 'jobs' => count($jobs)]);
    $producer->submit($group, $jobs);
    $say(['event' => 'received', 'group' => $group]);
    $nextTime = $begun + (float) $seconds * ($number + 1) / (int) $groupCount;
    while (($left = $nextTime - microtime(true)) > 0) {
        $settled($left);
        if ($producer->unsettled() === []) {
            usleep((int) (min($left, 0.05) * 1e6));
        }
    }
}
while ($producer->unsettled() !== []) {
    $settled(5);
}
