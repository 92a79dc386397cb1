<?php

// Compares decisions that the PHP client makes itself with the same ones from a sidecar:
// alone.php ADDRESS UNIX_ADDRESS [TURNS].

declare(strict_types=1);

require __DIR__ . '/../../clients/php/autoload.php';

use Offbeat\Client;
use Offbeat\IdType;
use Offbeat\Mode;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\TwisterProfile;

// The number of decisions in a turn, one after another, as in a handler of web requests.
const DECISIONS = 200;
const CYCLE = 8 * 3600;
$turns = (int) ($argv[3] ?? 15);

mt_srand(8);
$uuids = $integers = [];
for ($i = 0; $i < DECISIONS; ++$i) {
    $words = pack('N4', mt_rand(), mt_rand(), mt_rand(), mt_rand());
    $uuids[] = preg_replace('/(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', bin2hex($words));
    $integers[] = mt_rand();
}
$questions = [
    'HASH' => [new Schedule(period: CYCLE), null, $uuids, IdType::Uuid],
    'HASH, two kinds' => [new Schedule(period: CYCLE, kinds: ['import', 'export']), 'export', $uuids, IdType::Uuid],
    'TWISTER' => [
        new Schedule(period: CYCLE, placement: Placement::Twister, profile: TwisterProfile::Php),
        null,
        $integers,
        null,
    ],
];
$clients = [
    'alone' => new Client(mode: Mode::Local),
    'sidecar, TCP' => new Client($argv[1], mode: Mode::Remote),
    'sidecar, Unix socket' => new Client($argv[2], mode: Mode::Remote),
];

// All three must give the same answer.
$start = new DateTimeImmutable('2026-01-01T00:00:00Z');
foreach ($questions as $name => [$schedule, $kind, $ids, $idType]) {
    foreach ($ids as $id) {
        $runs = array_map(
            static fn (Client $client): string => serialize(
                $client->assignSlot($schedule, $id, kind: $kind, idType: $idType, fromTime: $start)->nextRuns,
            ),
            $clients,
        );
        if (count(array_unique($runs)) !== 1) {
            fwrite(STDERR, "$name: $id: " . implode("\n", $runs) . "\n");
            exit(1);
        }
    }
}

// In turns, so that other load on the machine affects all alike.
$took = [];
for ($turn = 0; $turn < $turns; ++$turn) {
    foreach ($questions as $name => [$schedule, $kind, $ids, $idType]) {
        foreach ($clients as $who => $client) {
            $begun = hrtime(true);
            foreach ($ids as $id) {
                $client->assignSlot($schedule, $id, kind: $kind, idType: $idType);
            }
            $took["$name, $who"][] = (hrtime(true) - $begun) / 1e3 / DECISIONS;
        }
    }
}
foreach ($took as $name => $measured) {
    sort($measured);
    printf("%s\t%.1f\n", $name, $measured[intdiv($turns, 2)]);
}
