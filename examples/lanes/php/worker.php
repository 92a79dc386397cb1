<?php

declare(strict_types=1);

// Runs jobs in an express and a slow lane, without knowing how long each job takes:
//
//   php worker.php
//
// The jobs are those of the express lane's worked example, a hundred times faster, each in a
// process of its own (ext-grpc must not be loaded: it breaks pcntl_fork). Prints which job runs
// in which lane, and fails if that differs from the example.

require __DIR__ . '/../../../clients/php/autoload.php'; // or Composer's

use Offbeat\Exception\AttemptTimedOut;
use Offbeat\Lanes\Lane;
use Offbeat\Lanes\LaneRoute;
use Offbeat\Lanes\LaneSet;
use Offbeat\Lanes\PendingJob;

const JOBS = ['fast1' => 0.1, 'slow1' => 6.0, 'slow2' => 6.0, 'fast2' => 0.1]; // seconds
const TIMED_OUT = 75; // exit status of an attempt that reached its timeout

/** A job works in small steps, and checks between them whether its time is up. */
function work(float $seconds, LaneRoute $route): void
{
    $deadline = $route->deadline();
    for ($end = microtime(true) + $seconds; microtime(true) < $end;) {
        usleep(5_000);
        $deadline->check();
    }
}

/** Begins an attempt in a process of its own, and returns the process. */
function start(string $job, LaneRoute $route): int
{
    $process = pcntl_fork();
    if ($process !== 0) {
        return $process;
    }
    try {
        work(JOBS[$job], $route);
        exit(0);
    } catch (AttemptTimedOut) {
        exit(TIMED_OUT);
    }
}

$client = new Offbeat\Client();
$lanes = new LaneSet([
    new Lane('express', workerCount: 1, attemptTimeout: 0.6),
    new Lane('slow', workerCount: 1, attemptTimeout: 9),
]);
$pending = array_map(static fn (string $id) => new PendingJob($id), array_keys(JOBS));
$running = []; // by process: the job and its lane
$timeline = [];
$start = microtime(true);

while (true) {
    // Free workers take the jobs that the sidecar assigns to them.
    $busy = array_count_values(array_column($running, 'lane'));
    $free = [];
    foreach ($lanes->lanes as $lane) {
        $free[$lane->name] = $lane->workerCount - ($busy[$lane->name] ?? 0);
    }
    $dispatched = $client->dispatchJobs($lanes, $free, $pending);
    foreach ($dispatched->dispatches as $dispatch) {
        $process = start($dispatch->jobId, $dispatch->route);
        $running[$process] = ['job' => $pending[$dispatch->jobIndex], 'lane' => $dispatch->route->laneName];
        unset($pending[$dispatch->jobIndex]);
    }
    foreach ($dispatched->failures as $failure) {
        echo "$failure->jobId has failed: {$failure->failure->message}", PHP_EOL;
        unset($pending[$failure->jobIndex]);
    }
    $pending = array_values($pending);

    $row = ['at' => microtime(true) - $start, 'express' => null, 'slow' => null];
    foreach ($running as ['job' => $job, 'lane' => $lane]) {
        $row[$lane] = $job->id;
    }
    printf("%5.2f s  express: %-5s  slow: %s\n", $row['at'], $row['express'] ?? '-', $row['slow'] ?? '-');
    $timeline[] = $row;
    if ($running === []) {
        break;
    }

    // When an attempt ends, its worker is free. At its timeout, the job waits for the next lane.
    $process = pcntl_wait($status);
    ['job' => $job, 'lane' => $lane] = $running[$process];
    unset($running[$process]);
    if (pcntl_wexitstatus($status) === TIMED_OUT) {
        $pending[] = $job->timedOutIn($lane);
    } elseif ($status !== 0) { // not the lane's concern: a real program might retry
        echo "$job->id has failed", PHP_EOL;
    }
}

$vector = file_get_contents(__DIR__ . '/../../../tests/vectors/express_lane_timeline.json');
$expected = json_decode($vector, true)['timeline'];
$same = count($timeline) === count($expected);
foreach ($expected as $place => ['at' => $at, 'express' => $express, 'slow' => $slow]) {
    $row = $timeline[$place] ?? ['at' => INF, 'express' => null, 'slow' => null];
    $same = $same && [$express, $slow] === [$row['express'], $row['slow']] && abs($row['at'] - $at / 100) < 1;
}
echo $same ? 'as in the example' : 'not as in the example', PHP_EOL;
exit($same ? 0 : 1);
