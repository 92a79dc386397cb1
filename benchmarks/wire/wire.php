<?php

// Compares batches over the wire with decisions in process, in PHP: ADDRESS [SECONDS [IDS PER CALL]].

declare(strict_types=1);

require __DIR__ . '/../../clients/php/autoload.php';

use Offbeat\AssignmentColumn;
use Offbeat\Client;
use Offbeat\Placement;
use Offbeat\Schedule;
use Offbeat\TwisterProfile;

const SLOT_SECONDS = 28_800;
// The same decision in process.
const OFFSETS = [AssignmentColumn::SlotOffsetTicks];
$address = $argv[1];
$seconds = (float) ($argv[2] ?? 2);
$count = (int) ($argv[3] ?? 20_000);

mt_srand(8);
$packedUuids = '';
$integers = [];
for ($i = 0; $i < $count; ++$i) {
    $integers[] = mt_rand() << 32 | mt_rand();
    $packedUuids .= pack('N4', mt_rand(), mt_rand(), mt_rand(), mt_rand());
}
$uuids = array_map(
    static fn (string $hex): string => preg_replace('/(.{8})(.{4})(.{4})(.{4})/', '$1-$2-$3-$4-', $hex),
    str_split(bin2hex($packedUuids), 32),
);
$integerBytes = pack('P*', ...$integers);
$few = array_slice($integers, 0, 10_000);

$client = new Client($address);
$twister = static fn (TwisterProfile $profile): Schedule => new Schedule(
    period: 3 * SLOT_SECONDS,
    slotCount: 3,
    placement: Placement::Twister,
    profile: $profile,
);
$asPhp = $twister(TwisterProfile::Php);
$asRuby = $twister(TwisterProfile::Ruby);
$byHash = new Schedule(period: 3 * SLOT_SECONDS, slotCount: 3);

$decide = static function (int $id): int {
    mt_srand($id);

    return mt_rand(0, SLOT_SECONDS - 1);
};
$contenders = [
    'in process, mt_srand' => [count($few), static function () use ($few): void {
        foreach ($few as $id) {
            mt_srand($id);
            mt_rand(0, SLOT_SECONDS - 1);
        }
    }],
];
if (PHP_VERSION_ID >= 80200) {
    $contenders['in process, Randomizer'] = [count($few), static function () use ($few): void {
        foreach ($few as $id) {
            (new Random\Randomizer(new Random\Engine\Mt19937($id)))->getInt(0, SLOT_SECONDS - 1);
        }
    }];
}
$contenders += [
    'assign_packed, integers' => [$count, static fn () => $client->assignPacked($asPhp, integers: $integerBytes)->slotIndexes()],
    'assign_packed, UUIDs' => [$count, static fn () => $client->assignPacked($asPhp, uuids: $packedUuids)->slotIndexes()],
    'assign_packed, UUIDs, as Ruby' => [$count, static fn () => $client->assignPacked($asRuby, uuids: $packedUuids)->slotIndexes()],
    'assign_packed, offsets, integers' => [$count, static fn () => $client->assignPacked($asPhp, integers: $integerBytes, columns: OFFSETS)->slotOffsetTicks()],
    'assign_packed, offsets, UUIDs' => [$count, static fn () => $client->assignPacked($asPhp, uuids: $packedUuids, columns: OFFSETS)->slotOffsetTicks()],
    'assign_slots, UUIDs' => [$count, static fn () => $client->assignSlots($asPhp, $uuids)],
    'assign_slots, integers' => [$count, static fn () => $client->assignSlots($asPhp, $integers)],
    'assign_packed, UUIDs, HASH' => [$count, static fn () => $client->assignPacked($byHash, uuids: $packedUuids)->slotIndexes()],
];

// The answers must be those of PHP itself.
if ($client->assignPacked($asPhp, integers: $integerBytes)->slotOffsetTicks() !== array_map($decide, $integers)) {
    fwrite(STDERR, "integers differ\n");
    exit(1);
}

// A turn: one batch after another, as a producer with more rows than fit into one batch sends them.
const TURN_SECONDS = 0.1;

// In turns, so that other load on the machine affects all alike.
$rates = array_fill_keys(array_keys($contenders), []);
$end = microtime(true) + $seconds * count($contenders);
do {
    foreach ($contenders as $name => [$size, $run]) {
        $begun = hrtime(true);
        $done = 0;
        do {
            $run();
            $done += $size;
            $took = (hrtime(true) - $begun) / 1e9;
        } while ($took < TURN_SECONDS);
        $rates[$name][] = $done / $took;
    }
} while (microtime(true) < $end || count($rates['in process, mt_srand']) < 5);
foreach ($rates as $name => $measured) {
    sort($measured);
    printf("%s\t%.0f\n", $name, $measured[intdiv(count($measured), 2)]);
}
