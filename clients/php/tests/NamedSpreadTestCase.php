<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\NamedSpread\Consumer;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\NamedSpread;

/** Base of tests of named spreads, whose jobs are pulled by calls and by streams. */
abstract class NamedSpreadTestCase extends OffbeatTestCase
{
    public static function modes(): array
    {
        return ['pull' => ['pull'], 'stream' => ['stream']];
    }

    /** A name that no other test uses. */
    protected static function name(): string
    {
        static $number = 0;

        return 'spread-' . ++$number;
    }

    protected static function consumer(NamedSpread $spread, string $mode, int $ahead = 16, ?\Closure $told = null): Consumer
    {
        return $mode === 'pull'
            ? $spread->consumer('one', batchSize: $ahead, wait: 5, patience: 10, onOutcome: $told)
            : $spread->stream('one', window: $ahead, patience: 10, onOutcome: $told);
    }

    /** @return list<LeasedJob> */
    protected static function take(Consumer $consumer, int $count): array
    {
        $jobs = [];
        foreach ($consumer as $job) {
            $jobs[] = $job;
            if (count($jobs) === $count) {
                break;
            }
        }

        return $jobs;
    }

    /** Takes $count jobs and acknowledges them; returns their payloads, sorted. */
    protected static function work(Consumer $consumer, int $count): array
    {
        $jobs = [];
        foreach ($consumer as $job) {
            $job->ack();
            $jobs[] = $job;
            if (count($jobs) === $count) {
                break;
            }
        }
        $consumer->flush();

        return self::payloads($jobs);
    }

    /** @param list<LeasedJob> $jobs */
    protected static function payloads(array $jobs): array
    {
        $payloads = array_column($jobs, 'payload');
        sort($payloads);

        return $payloads;
    }
}
