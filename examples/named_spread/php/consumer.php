<?php

declare(strict_types=1);

// Takes jobs from a named spread until it is closed; any number of these may run:
//
//   php consumer.php SPREAD CONSUMER_ID
//
// A job that is not acknowledged within its lease goes to another consumer. So a job can
// run twice, and must be idempotent.

require __DIR__ . '/../../../clients/php/autoload.php'; // or Composer's

[, $name, $consumerId] = $argv;
$client = new Offbeat\Client();
$consumer = $client->namedSpread($name, feederCount: 8, leaseDuration: 5)->consumer($consumerId);

try {
    foreach ($consumer as $job) {
        // Work: json_decode($job->payload, true)
        $job->ack();
        echo "$consumerId $job->groupId $job->jobIndex", PHP_EOL;
    }
} finally {
    $consumer->close();
}
