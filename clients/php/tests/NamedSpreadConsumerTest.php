<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\Unavailable;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\NamedSpread\SettleOutcome;
use Offbeat\NamedSpread\SettleResult;
use Offbeat\NamedSpread\SpreadState;

/** Consumers of named spreads: leases, settlements, and restarts between them. */
final class NamedSpreadConsumerTest extends NamedSpreadTestCase
{
    private const PROGRAMS = __DIR__ . '/../../../tests/faults/programs';

    /** @dataProvider modes */
    public function testSettlements(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        $told = [];
        $consumer = self::consumer($spread, $mode, told: static function (LeasedJob $job, SettleOutcome $outcome) use (&$told): void {
            $told[] = [$job->payload, $outcome];
        });
        $producer = $spread->producer();
        $producer->submit('a', ['0', '1', '2', '3', '4', '5']);
        [$done, $failed, $later, $unstarted, $waiting, $hopeless] = self::take($consumer, 6);
        $done->ack();
        $failed->nack();
        $later->nack(delay: 3_600 / 7);
        $unstarted->release();
        $waiting->release(delay: new \DateInterval('PT1H'));
        $hopeless->deadLetter();
        self::assertSame([], $told, 'settlements are queued');
        $expected = [
            ['0', SettleOutcome::Acked], ['1', SettleOutcome::Returned], ['2', SettleOutcome::Returned],
            ['3', SettleOutcome::Returned], ['4', SettleOutcome::Returned], ['5', SettleOutcome::DeadLettered],
        ];
        $flushed = array_map(static fn (array $pair): array => [$pair[0]->payload, $pair[1]], $consumer->flush());
        self::assertSame([$expected, $expected], [$flushed, $told]);
        self::assertSame([], $consumer->flush());
        $again = self::take($consumer, 2);
        self::assertSame(['1', '3'], self::payloads($again));
        self::assertSame([2, true], [$again[0]->attempt, $again[0]->redelivered]);
        array_map(static fn (LeasedJob $job) => $job->ack(), $again);
        $consumer->close();
        self::assertCount(8, $told);
        self::assertSame(0, $consumer->staleCount());
        self::assertSame([1, 2], [$spread->describe()->counts->deadLetterCount, $spread->describe()->counts->returnedJobCount]);
        $spread->discard();
    }

    /** @dataProvider modes */
    public function testALeaseLastsAsLongAsItIsExtended(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, leaseDuration: 2);
        $spread->producer()->submit('a', ['0']);
        $consumer = self::consumer($spread, $mode);
        [$job] = self::take($consumer, 1);
        self::assertEqualsWithDelta(1.5, $job->leaseEndsIn(), 0.5);
        for ($i = 0; $i < 3; ++$i) {
            usleep(1_200_000);
            $endTime = $job->leaseEndTime();
            self::assertEquals($extended = $job->extendLease(), $job->leaseEndTime());
            self::assertNotNull($extended);
            self::assertEqualsWithDelta(1.2, (float) $job->leaseEndTime()->format('U.u') - (float) $endTime->format('U.u'), 0.3);
            self::assertEqualsWithDelta(1.5, $job->leaseEndsIn(), 0.5);
        }
        usleep(2_100_000);
        self::assertTrue($job->expired());
        self::assertNull($job->extendLease());
        $job->ack();
        self::assertSame([[$job, SettleOutcome::Stale]], $consumer->flush());
        self::assertSame(1, $consumer->staleCount());
        $consumer->close();
        $spread->discard();
    }

    /** @dataProvider modes */
    public function testAJobWhoseLeaseHasEndedIsNotHandedOut(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, leaseDuration: 1);
        $spread->producer()->submit('a', ['0', '1', '2']);
        $consumer = self::consumer($spread, $mode);
        $seen = [];
        foreach ($consumer as $job) {
            self::assertFalse($job->expired());
            $seen[] = [$job->payload, $job->attempt];
            $job->ack();
            count($seen) > 1 || usleep(1_200_000);
            if (count($seen) === 4) {
                break;
            }
        }
        $consumer->close();
        sort($seen);
        self::assertSame([['0', 1], ['0', 2], ['1', 2], ['2', 2]], $seen, 'the others were leased once, and dropped');
        self::assertSame(1, $consumer->staleCount());
        self::assertSame(SpreadState::Closed, $spread->close(wait: 2)->state);
    }

    /** @dataProvider modes */
    public function testALeaseBeginsWhenTheJobIsLeasedAndNotWhenItIsAskedFor(string $mode): void
    {
        $spread = self::client()->namedSpread($name = self::name(), feederCount: 1, leaseDuration: 1);
        $spread->open();
        $code = 'require $argv[1]; usleep(1_500_000);'
            . ' (new Offbeat\Client($argv[2]))->namedSpread($argv[3], feederCount: 1, leaseDuration: 1)->producer()->submit("late", ["job"]);';
        $process = new Process([PHP_BINARY, '-r', $code, '--', __DIR__ . '/../autoload.php', Sidecar::shared()->address, $name]);
        [$job] = self::take(self::consumer($spread, $mode), 1);
        self::assertSame([1, true], [$job->attempt, $job->leaseEndsIn() > 0]);
        self::assertSame(0, $process->wait(10), $process->output());
        $spread->discard();
    }

    /** @dataProvider modes */
    public function testSettlementsDoNotWaitLongForOthers(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, leaseDuration: 2);
        $spread->producer()->submit('a', ['0', '1', '2', '3']);
        $consumer = self::consumer($spread, $mode);
        $settled = [];
        $acked = INF;
        foreach ($consumer as $job) {
            $settled[] = $spread->describe()->counts->settledJobCount;
            if (microtime(true) - $acked < 0.9) {
                self::assertSame(0, end($settled), 'settlements are sent together');
            }
            $acked = min($acked, microtime(true));
            $job->ack();
            if (count($settled) === 4) {
                break;
            }
            usleep(550_000);
        }
        self::assertSame(0, $settled[0]);
        self::assertGreaterThanOrEqual(2, $settled[3]);
        $consumer->close();
        self::assertSame([0, 4], [$consumer->staleCount(), $spread->describe()->counts->settledJobCount]);
    }

    /** @dataProvider modes */
    public function testClosingReleasesWhatWasNotHandedOut(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        $spread->producer()->submit('a', ['0', '1', '2', '3']);
        $consumer = self::consumer($spread, $mode, ahead: 4);
        [$done, $open] = self::take($consumer, 2);
        $done->ack();
        $consumer->close();
        $consumer->close();
        self::assertSame([], self::take($consumer, 1));
        $held = $spread->describe()->counts;
        self::assertSame([1, 1, 2], [$held->settledJobCount, $held->leasedJobCount, $held->returnedJobCount]);
        self::assertSame(['2', '3'], self::payloads($spread->pull('two', 9)->jobs));
        self::thrown(\LogicException::class, static fn () => $open->ack());
        self::assertEquals([new SettleResult(SettleOutcome::Acked)], $spread->settle([[$open, SettleAction::Ack]]));
    }

    /** @dataProvider modes */
    public function testASlowJobCostsThoseThatWaitBehindItNoAttempt(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, leaseDuration: 1, maxAttemptCount: 2);
        $spread->producer()->submit('g', ['slow', '1', '2', '3']);
        $consumer = self::consumer($spread, $mode, ahead: 4);
        $seen = [];
        foreach ($consumer as $job) {
            $seen[] = $job->payload;
            if ($job->payload === 'slow') {
                usleep(1_200_000);
            }
            $job->ack();
            if (count($seen) === 5) {
                break;
            }
        }
        $consumer->close();
        self::assertSame(['slow', 'slow'], array_slice($seen, 0, 2));
        self::assertSame(['slow'], array_column(iterator_to_array($spread->deadLetters(), false), 'payload'));
        self::assertSame([3 + 1, 2], [$spread->describe()->counts->settledJobCount, $consumer->staleCount()]);
    }

    /** @dataProvider modes */
    public function testAConsumerOutlivesARestart(string $mode): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $spread = (new Client($address))->namedSpread('mail', feederCount: 1, leaseDuration: 2);
        $producer = $spread->producer();
        $producer->submit('a', ['0', '1', '2']);
        $consumer = self::consumer($spread, $mode);
        self::assertSame(['0'], self::work($consumer, 1));
        [$job] = self::take($consumer, 1);
        $sidecar->process->end(SIGKILL);
        $job->ack();
        [$fetched] = self::take($consumer, 1);
        self::assertSame(['2', $job->epoch], [$fetched->payload, $fetched->epoch], 'its lease lasts on');
        $sidecar = new Sidecar($address);
        self::assertSame([SettleOutcome::Stale], array_column($consumer->flush(), 1));
        self::assertSame(1, $consumer->staleCount());
        $producer->submit('b', ['3']);
        self::assertSame(['0', '1', '2', '3'], self::work($consumer, 4), 'nobody had asked what was settled');
        self::assertCount(2, $producer->wait(timeout: 5));
        $spread->close();
        self::assertSame([], self::take($consumer, 1));
        $consumer->close();
    }

    /** @dataProvider modes */
    public function testPatienceEnds(string $mode): void
    {
        $spread = (new Client('127.0.0.1:' . Sidecar::freePort()))->namedSpread('mail', feederCount: 1);
        $consumer = $mode === 'pull' ? $spread->consumer('one', patience: 0.6) : $spread->stream('one', patience: 0.6);
        $begun = microtime(true);
        self::thrown(Unavailable::class, static fn () => self::take($consumer, 1));
        self::assertEqualsWithDelta(1.8, microtime(true) - $begun, 1.3);
        $begun = microtime(true);
        $consumer->close();
        self::assertLessThan(0.5, microtime(true) - $begun);
        self::thrown(Unavailable::class, static fn () => $spread->producer(patience: 0.1)->submit('a', ['0']));
        self::thrown(Unavailable::class, static fn () => $spread->describe());
    }

    public function testAStreamIsSentSoMuchAheadAsItsWindowSays(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        $spread->producer()->submit('a', array_map('strval', range(0, 99)));
        $consumer = $spread->stream('one', window: 10);
        $taken = 0;
        $most = 0;
        foreach ($consumer as $job) {
            self::assertSame((string) $taken, $job->payload);
            $job->ack();
            if (++$taken % 3 === 0) {
                $most = max($most, $spread->describe()->counts->leasedJobCount);
            }
            if ($taken === 100) {
                break;
            }
        }
        self::assertContains($most, range(10, 30)); // jobs that were handed out stay leased until settled
        $consumer->close();
        self::assertSame(100, $spread->describe()->counts->settledJobCount);
        $narrow = $spread->stream('one', window: 1);
        $spread->producer()->submit('b', ['0', '1', '2']);
        self::assertSame(['0', '1', '2'], self::work($narrow, 3));
        $narrow->close();
    }

    public function testAStreamOpensWhatWasDiscarded(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        $consumer = $spread->stream('one');
        $spread->producer()->submit('a', ['0']);
        self::assertSame(['0'], self::work($consumer, 1));
        $spread->discard();
        $spread->producer()->submit('a', ['1']);
        self::assertSame(['1'], self::work($consumer, 1));
        $consumer->close();
    }

    /** After a restart a consumer finds the spread unknown; then a producer opens and closes it. */
    public function testWhoIsLateToOpenASpreadLeavesItClosed(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        self::assertSame(SpreadState::Closed, $spread->close()->state);
        $calls = (new \ReflectionProperty($spread, 'calls'))->getValue($spread);
        $calls->reopen(new NotFound('unknown', 'ERROR_REASON_UNKNOWN_SPREAD'));
        self::assertSame(SpreadState::Closed, $spread->describe()->state);
        self::assertSame([], iterator_to_array($spread->consumer('late'), false));
        self::assertSame(SpreadState::Open, $spread->open()->state);
    }

    /** @dataProvider modes */
    public function testASpreadThatIsClosingIsDrainedByNewConsumers(string $mode): void
    {
        $name = self::name();
        $spread = self::client()->namedSpread($name, feederCount: 1);
        $spread->producer()->submit('a', ['0', '1']);
        self::assertSame(SpreadState::Draining, $spread->close()->state);
        $consumer = self::consumer(self::client()->namedSpread($name, feederCount: 1), $mode);
        $seen = [];
        foreach ($consumer as $job) {
            $seen[] = $job->payload;
            $job->ack();
        }
        self::assertSame([['0', '1'], 0], [$seen, $consumer->staleCount()]);
        self::assertSame(SpreadState::Closed, $spread->describe()->state);
    }

    /** Producers and consumers in other processes, while the service is killed. */
    public function testNothingIsLostAndNoTwoLeasesAreOnOneJob(): void
    {
        $address = 'unix:' . sys_get_temp_dir() . '/offbeat-named-' . getmypid() . '.sock';
        $sidecar = new Sidecar($address);
        $run = static fn (string $program, string ...$rest): Process
            => new Process([PHP_BINARY, self::PROGRAMS . "/$program.php", $address, 'mail', ...$rest]);
        $consumers = [
            $run('consumer', 'one', 'pull'), $run('consumer', 'two', 'stream'),
            $run('consumer', 'three', 'pull'), $run('consumer', 'four', 'stream'),
        ];
        $producers = [$run('producer', 'p', '12', '40', '3'), $run('producer', 'q', '12', '40', '3')];
        for ($kill = 0; $kill < 3; ++$kill) {
            usleep(800_000);
            $sidecar->process->end(SIGKILL);
            $sidecar = new Sidecar($address);
        }
        foreach ($producers as $producer) {
            self::assertSame(0, $producer->wait(60), $producer->output());
            self::assertSame(12, substr_count($producer->output(), '"settled"'));
        }
        $spread = (new Client($address))->namedSpread('mail', feederCount: 4, leaseDuration: 1, maxAttemptCount: 1_000);
        self::assertSame(SpreadState::Closed, $spread->close(wait: 10)->state);
        $leases = [];
        $settled = [];
        foreach ($consumers as $consumer) {
            self::assertSame(0, $consumer->wait(10), $consumer->output());
            foreach (explode("\n", trim($consumer->output())) as $line) {
                $event = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
                if ($event['event'] === 'begin') {
                    $leases[$event['payload']][] = $event;
                } elseif (($event['outcome'] ?? null) === 'ACKED') {
                    $settled["$event[group]/$event[job_index]"] = true;
                }
            }
        }
        self::assertCount(2 * 12 * 40, $leases);
        foreach ($leases as $ofJob) {
            array_multisort(array_column($ofJob, 'time'), $ofJob);
            for ($i = 1; $i < count($ofJob); ++$i) {
                self::assertLessThanOrEqual($ofJob[$i]['time'], $ofJob[$i - 1]['until'], json_encode($ofJob));
            }
        }
        self::assertNotEmpty($settled);
        self::assertSame([], array_diff_key($settled, $leases));
    }
}
