<?php

declare(strict_types=1);

// A pump that runs until SIGTERM; run by PumpTest. Prints the token of each job that it
// hands over, and other events.

use Offbeat\Client;
use Offbeat\NamedSpread\LeasedJob;

require __DIR__ . '/../../autoload.php';

[, $address, $name, $refuses] = $argv;
$spread = (new Client($address))->namedSpread($name, feederCount: 2);
$pump = $spread->pump('pump', static function (LeasedJob $job) use ($refuses): void {
    if ($refuses === 'refuses') {
        throw new RuntimeException('the broker is away');
    }
    echo "{$job->token()}\n";
});
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static fn () => $pump->stop());
ini_set('error_log', ''); // errors go to standard error
echo "running\n";
$pump->run();
echo "stopped\n";
