<?php

declare(strict_types=1);

// Submits groups to a named spread, and waits until consumers have settled them all:
//
//   php producer.php SPREAD PREFIX GROUP_COUNT JOBS_PER_GROUP
//
// If the service restarts meanwhile, the client submits lost groups again.

require __DIR__ . '/../../../clients/php/autoload.php'; // or Composer's

[, $name, $prefix, $groupCount, $jobsPerGroup] = $argv;
$client = new Offbeat\Client();
$producer = $client->namedSpread($name, feederCount: 8, leaseDuration: 5)->producer();

for ($number = 0; $number < (int) $groupCount; ++$number) {
    $groupId = "$prefix-$number";
    $payloads = [];
    for ($index = 0; $index < (int) $jobsPerGroup; ++$index) {
        $payloads[] = json_encode(['group' => $groupId, 'job' => $index], JSON_THROW_ON_ERROR);
    }
    $producer->submit($groupId, $payloads);
}

$settled = $producer->wait();
echo "$prefix: ", count($settled), ' groups settled', PHP_EOL;
