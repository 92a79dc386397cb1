<?php

declare(strict_types=1);

// Calls about one ID and about many, in turn, until a file exists; then reports the results:
//
//   php caller.php ADDRESS PAUSE STOP_FILE

use Offbeat\Exception\OffbeatException;
use Offbeat\Schedule;

require __DIR__ . '/../../../clients/php/autoload.php';

[, $address, $pause, $stop] = $argv;
$attempts = 0;
$token = static function () use (&$attempts): string { // called at every attempt; the server requires no token
    ++$attempts;

    return 'counts-the-attempts';
};
$schedule = new Schedule(period: 8 * 3600);
$client = new Offbeat\Client($address, token: $token);
$expected = $client->assignSlot($schedule, 'acme')->slotIndex;
echo "ready\n";
[$calls, $failures, $slowest, $attempts] = [0, [], 0.0, 0];
while (!file_exists($stop)) {
    $begun = microtime(true);
    try {
        $given = match ($calls % 2) {
            0 => [$client->assignSlot($schedule, 'acme')->slotIndex],
            1 => $client->assignSlots($schedule, array_fill(0, 500, 'acme'))->slotIndexes,
        };
        if (array_values(array_unique($given)) !== [$expected]) {
            $failures[] = 'a wrong answer: ' . json_encode(array_slice($given, 0, 5));
        }
    } catch (OffbeatException $e) {
        $failures[] = $e::class . ': ' . $e->getMessage();
    }
    ++$calls;
    $slowest = max($slowest, microtime(true) - $begun);
    usleep((int) ((float) $pause * 1e6));
    clearstatcache();
}
$retries = $attempts - $calls;
echo json_encode(compact('calls', 'retries', 'slowest', 'failures'), JSON_THROW_ON_ERROR), "\n";
