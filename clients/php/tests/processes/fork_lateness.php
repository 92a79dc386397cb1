<?php

declare(strict_types=1);

// Records a run, forks, and records another run in each process. Each process must report only
// its own runs.

use Offbeat\Client;
use Offbeat\LatenessRecorder;

error_reporting(E_ALL);
require __DIR__ . '/../../autoload.php';

$lateness = new LatenessRecorder('nightly', client: new Client($argv[1]));
$scheduled = new DateTimeImmutable('2026-03-01T12:00:00Z');
$lateness->record($scheduled, $scheduled->modify('+1 second'));
$child = pcntl_fork();
$lateness->record($scheduled, $scheduled->modify('+10 seconds'));
if ($child !== 0) {
    pcntl_waitpid($child, $status);
    exit(pcntl_wexitstatus($status));
}
