<?php

require 'clients/php/autoload.php'; // or Composer's

$client = new Offbeat\Client();
$every8Hours = new Offbeat\Schedule(period: new DateInterval('PT8H'));
$newYear = new DateTimeImmutable('2026-01-01T00:00:00Z');

$user = '0190d7a2-1111-7abc-8def-0123456789ab';
$assignment = $client->assignSlot($every8Hours, $user, fromTime: $newYear);
echo $assignment->slotIndex, ' ', $assignment->nextRun()->startTime->format('c'), PHP_EOL;

$rows = $client->assignSlots($every8Hours, range(1, 100_000), fromTime: $newYear);
foreach ([$rows[0], $rows[1], $rows[2]] as $row) {
    echo "$row->id $row->slotIndex {$row->nextRun->startTime->format('c')}", PHP_EOL;
}
