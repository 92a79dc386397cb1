<?php

declare(strict_types=1);

// A web request that asks about one ID; it prints who answered, and the milliseconds.

require __DIR__ . '/../../autoload.php';
parse_str($_SERVER['QUERY_STRING'], $query);
$started = hrtime(true);
$client = new Offbeat\Client($query['address'], timeout: 'web', mode: $query['mode']);
try {
    $outcome = $client->assignSlot(new Offbeat\Schedule(period: 28_800), $query['id'])->decidedBy->value;
} catch (Offbeat\Exception\NoAnswer $none) {
    $outcome = $none::class;
}
echo json_encode([$outcome, (hrtime(true) - $started) / 1e9]);
