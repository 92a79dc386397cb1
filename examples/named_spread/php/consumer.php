<?php

declare(strict_types=1);

// Takes jobs from a named spread until it is closed; any number of these may run:
//
//   php consumer.php SPREAD NAME
//
// A job that is not acknowledged within the lease goes to another consumer: so a job can
// run twice, and must bear it.

require __DIR__ . '/../../../clients/php/autoload.php'; // or Composer's

[, $spread, $name] = $argv;
$client = new Offbeat\Client();
$consumer = $client->namedSpread($spread, feederCount: 8, lease: 5)->consumer($name);

try {
    foreach ($consumer as $job) {
        // Work: json_decode($job->job, true)
        $job->ack();
        echo "$name $job->groupId $job->index", PHP_EOL;
    }
} finally {
    $consumer->close();
}
