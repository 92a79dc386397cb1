<?php
// Prints, as JSON, PHP's draws for limits that make it draw again: the ranges
// that divide 2^32 badly, which php_random.php does not reach. Slots are as long
// when ticks are milliseconds.
// Run: php php_rejection.php [SALT] > ../php_rejection.json
$salt = $argv[1] ?? 'public';
$limits = [2147483649, 2500000000, 2863311531, 3000000000, 3221225473, 4000000007];
$cases = [];
for ($i = 0; $i < 60; $i++) {
    $seed = hexdec(substr(hash('sha256', "$salt/rejection$i"), 0, 8));
    foreach ($limits as $limit) {
        mt_srand($seed);
        $first = mt_rand(0, $limit - 1);
        $second = mt_rand(0, $limit - 1);
        $cases[] = ['seed' => (string) $seed, 'limit' => (string) $limit, 'first' => (string) $first, 'second' => (string) $second];
    }
}
echo json_encode(['engine' => 'PHP ' . PHP_VERSION . ' mt_rand', 'cases' => $cases]), "\n";
