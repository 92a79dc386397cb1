<?php

// call.php ADDRESS [UID GID]: makes a call as that user, and prints the slot or the error's name.

require __DIR__ . '/../../../clients/php/autoload.php';

function call(string $address): string
{
    $client = new Offbeat\Client($address, timeout: 5.0);
    $every8Hours = new Offbeat\Schedule(period: new DateInterval('PT8H'));
    $user = '0190d7a2-1111-7abc-8def-0123456789ab';
    try {
        $from = new DateTimeImmutable('2026-01-01T00:00:00Z');
        return (string) $client->assignSlot($every8Hours, $user, fromTime: $from)->slotIndex;
    } catch (Offbeat\Exception\OffbeatException $error) {
        return (new ReflectionClass($error))->getShortName();
    }
}

[, $address] = $argv;
if (isset($argv[3])) {
    // A first call loads lazy modules while this user may still read the files.
    call('unix:/nowhere');
    posix_initgroups('nobody', (int) $argv[3]);
    posix_setgid((int) $argv[3]);
    posix_setuid((int) $argv[2]);
}
echo call($address), PHP_EOL;
