<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\NamedSpread\Consumer;
use Offbeat\NamedSpread\DeadLetterCause;
use Offbeat\NamedSpread\GroupState;
use Offbeat\NamedSpread\GroupStatus;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\NamedSpread;
use Offbeat\NamedSpread\Settlement;
use Offbeat\NamedSpread\SpreadState;
use Offbeat\NamedSpread\Verdict;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Times;
use Offbeat\V1;

/** Named spreads: what producers keep, what consumers hand out, and restarts between them. */
final class NamedSpreadTest extends OffbeatTestCase
{
    private const PROGRAMS = __DIR__ . '/../../../tests/faults/programs';

    public static function modes(): array
    {
        return ['pull' => ['pull'], 'stream' => ['stream']];
    }

    /** A name that no other test has. */
    private static function name(): string
    {
        static $number = 0;

        return 'spread-' . ++$number;
    }

    private static function consumer(NamedSpread $spread, string $mode, int $ahead = 16, ?\Closure $told = null): Consumer
    {
        return $mode === 'pull'
            ? $spread->consumer('one', batchSize: $ahead, wait: 5, patience: 10, onSettlement: $told)
            : $spread->stream('one', window: $ahead, patience: 10, onSettlement: $told);
    }

    /** @return list<LeasedJob> */
    private static function take(Consumer $consumer, int $count): array
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

    /** Takes so many jobs and acknowledges them; their bytes, sorted. */
    private static function work(Consumer $consumer, int $count): array
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

        return self::bytes($jobs);
    }

    /** @param list<LeasedJob> $jobs */
    private static function bytes(array $jobs): array
    {
        $bytes = array_column($jobs, 'job');
        sort($bytes);

        return $bytes;
    }

    public function testASpreadLivesFromOpenToClosed(): void
    {
        $name = self::name();
        $spread = self::client()->namedSpread($name, feederCount: 2, policy: SpreadPolicy::Cooldown, maxOpenGroups: 9);
        $opened = $spread->open();
        self::assertSame([$name, SpreadState::Open], [$opened->spread, $opened->state]);
        self::assertSame([SpreadPolicy::Cooldown, 2, 9], [$opened->spec->policy, $opened->spec->feederCount, $opened->spec->maxOpenGroups]);
        self::assertSame([5, 1_024, 65_536], [$opened->spec->maxAttempts, $opened->spec->maxConsumerLeases, $opened->spec->maxGroups]);
        self::assertSame([30, 64 << 20], [Times::seconds($opened->spec->lease), $opened->spec->maxBytes]);

        $producer = $spread->producer();
        $status = $producer->submit('a', ["a0\xff", 'a1', '']);
        self::assertSame([GroupState::Received, 3, 0, []], [$status->state, $status->jobCount, $status->settledCount, $status->settledRanges]);
        $producer->submit('42', ['b0']);
        self::assertSame(['a', '42'], $producer->unsettled());

        $pulled = $spread->pull('one', 10);
        self::assertFalse($pulled->ended);
        self::assertSame(["a0\xff", 'b0', 'a1', ''], array_column($pulled->jobs, 'job'));
        self::assertSame([0, 0, 1, 2], array_column($pulled->jobs, 'index'));
        self::assertSame([0, 1, 2, 3], array_column($pulled->jobs, 'sequence'));
        [$first] = $pulled->jobs;
        self::assertSame(['a', 1, $opened->epoch, false], [$first->groupId, $first->attempt, $first->epoch, $first->redelivered]);
        self::assertEqualsWithDelta(30, $first->leaseEndsIn(), 1);
        self::thrown(\LogicException::class, static fn () => $first->ack());
        self::assertSame(4, $spread->describe()->leasedJobCount);

        $acks = array_map(static fn (LeasedJob $job): array => [$job, Verdict::Ack], $pulled->jobs);
        self::assertSame(array_fill(0, 4, Settlement::Settled), $spread->settle($acks));
        self::assertSame([], $spread->settle([]));
        $settled = $producer->wait(timeout: 10);
        self::assertSame(['a', '42'], array_values(array_map(static fn (GroupStatus $one): string => $one->groupId, $settled)));
        self::assertSame([[], []], [$producer->unsettled(), $producer->wait()]);

        $closed = $spread->close(wait: 5);
        self::assertSame([SpreadState::Closed, 4, 4], [$closed->state, $closed->settledJobCount, $closed->certificate->jobCount]);
        self::assertTrue($spread->pull('one', 1, wait: 20)->ended);
        self::assertSame([], iterator_to_array($spread->consumer('one')));
        self::assertSame([], iterator_to_array($spread->stream('one')));
        $names = static fn (): array => array_column(iterator_to_array(self::client()->listSpreads()), 'spread');
        self::assertContains($name, $names());
        $spread->discard();
        self::assertNotContains($name, $names());
        $stale = $spread->settle($acks);
        self::assertSame(array_fill(0, 4, Settlement::Stale), $stale);
        self::assertNotContains($name, $names(), 'verdicts open nothing');
    }

    public function testSpreadsAreListedPageByPage(): void
    {
        $sidecar = new Sidecar();
        $client = new Client($sidecar->address);
        $names = array_map(static fn (int $number): string => sprintf('%03d', $number), range(1, 230));
        foreach ($names as $name) {
            $client->namedSpread($name, feederCount: 1)->open();
        }
        self::assertSame($names, array_column(iterator_to_array($client->listSpreads(), false), 'spread'));
    }

    public function testRefusals(): void
    {
        $name = self::name();
        $spread = self::client()->namedSpread($name, feederCount: 2);
        $producer = $spread->producer(patience: 0);
        $producer->submit('a', ['1']);
        foreach ([
            ['SPREAD_DIFFERS', FailedPrecondition::class, static fn () => self::client()->namedSpread($name, feederCount: 3)->open()],
            ['GROUP_DIFFERS', FailedPrecondition::class, static fn () => $producer->submit('a', ['2'])],
            ['GROUP_DIFFERS', FailedPrecondition::class, static fn () => $spread->producer()->submit('a', ['2'])],
        ] as [$reason, $class, $ask]) {
            self::assertSame("ERROR_REASON_$reason", self::thrown($class, $ask)->reason);
        }
        foreach ([
            ['spec.feeder_count', static fn () => self::client()->namedSpread('x', feederCount: 0)->open()],
            ['spec.feeder_count', static fn () => self::client()->namedSpread('x', feederCount: 2 ** 40)],
            ['spec.lease', static fn () => self::client()->namedSpread('x', feederCount: 1, lease: 0.5)->open()],
            ['spread', static fn () => self::client()->namedSpread("\xff", feederCount: 1)],
            ['max_jobs', static fn () => $spread->pull('one', 0)],
            ['wait', static fn () => $spread->pull('one', 1, wait: 21)],
            ['wait', static fn () => $spread->pull('one', 1, wait: -1)],
            ['consumer', static fn () => $spread->consumer("\xff")],
            ['patience', static fn () => $spread->consumer('one', patience: -1)],
            ['credit', static fn () => self::take($spread->stream('one', window: 0), 1)],
            ['group_id', static fn () => $producer->submit("\xff", ['1'])],
            ['jobs[1]', static fn () => $producer->submit('b', ['1', 2])],
            ['groups[0].jobs[0]', static fn () => $producer->submit('b', [str_repeat('x', (256 << 10) + 1)])],
            ['groups[0].commit.job_count', static fn () => $producer->submit('b', [])],
            ['numbers[0]', static fn () => $spread->deleteDeadLetters([-1])],
            ['timeout', static fn () => $producer->wait(timeout: 0)],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
        self::assertSame(['a'], $producer->unsettled(), 'what was refused is forgotten');
        [$job] = self::take($spread->consumer('one'), 1);
        foreach ([-1, 86_401, NAN] as $delay) {
            self::assertSame('delay', self::thrown(InvalidArgument::class, static fn () => $job->nack($delay))->field);
        }
    }

    public function testLargeGroupsGoInParts(): void
    {
        $transport = new FlakyTransport(Sidecar::shared()->address);
        $spread = $transport->spread(self::name());
        $jobs = array_map(static fn (int $n): string => str_repeat(chr($n), 200 << 10), range(1, 13));
        $producer = $spread->producer();
        self::assertSame(13, $producer->submit('bytes', $jobs)->jobCount);
        $firsts = array_map(static fn (V1\GroupPart $part): int => (int) $part->getFirstIndex(), $transport->parts());
        self::assertSame([0, 5, 10], $firsts);
        self::assertSame([false, false, true], array_map(static fn (V1\GroupPart $part): bool => $part->hasCommit(), $transport->parts()));
        $consumer = $spread->consumer('one', batchSize: 3);
        self::assertSame($jobs, self::work($consumer, 13));

        $transport->sent = [];
        self::assertSame(65_537, $producer->submit('jobs', array_fill(0, 65_537, ''))->jobCount);
        self::assertCount(2, $transport->parts());
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        self::assertSame(['jobs'], $producer->unsettled());
        $spread->discard();
    }

    public function testAGroupWhosePartsAreLostIsBegunAgain(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $transport = new FlakyTransport($address);
        $spec = (new V1\NamedSpreadSpec())->setFeederCount(2)->setLease(Times::toDuration('lease', 1));
        $spread = $transport->spread(self::name(), $spec);
        $transport->before = function (string $method) use ($transport, &$sidecar, $address): void {
            if ($method === 'SubmitGroups' && count($transport->parts()) === 2) {
                $transport->before = null;
                $sidecar->process->end(SIGKILL);
                $sidecar = new Sidecar($address);
            }
        };
        $jobs = array_map(static fn (int $n): string => str_repeat(chr($n), 250 << 10), range(1, 13));
        $producer = $spread->producer(patience: 5);
        self::assertSame(GroupState::Received, $producer->submit('a', $jobs)->state);
        self::assertSame($jobs, self::work($spread->consumer('one'), 13));

        self::assertCount(1, $producer->wait(timeout: 5));

        // Where another has opened the spread already, it is the part that is refused.
        $transport->sent = [];
        $transport->before = function (string $method) use ($transport, $spread): void {
            if ($method === 'SubmitGroups' && count($transport->parts()) === 2) {
                $transport->before = null;
                $spread->discard();
                $spread->open();
            }
        };
        self::assertSame(GroupState::Received, $producer->submit('b', array_reverse($jobs))->state);
        $firsts = array_map(static fn (V1\GroupPart $part): int => (int) $part->getFirstIndex(), $transport->parts());
        self::assertSame([0, 4, 8, 0, 4, 8, 12], $firsts);
    }

    public function testAtALimitAProducerWaits(): void
    {
        $transport = new FlakyTransport(Sidecar::shared()->address);
        $spec = (new V1\NamedSpreadSpec())->setFeederCount(2)->setMaxJobs(3);
        $spread = $transport->spread(self::name(), $spec);
        $spread->producer()->submit('a', ['1', '2']);
        $impatient = $spread->producer(patience: 0.3);
        $begun = microtime(true);
        $full = self::thrown(ResourceExhausted::class, static fn () => $impatient->submit('b', ['3', '4']));
        self::assertSame('ERROR_REASON_LIMIT_REACHED', $full->reason);
        self::assertGreaterThan(0.3, microtime(true) - $begun);
        self::assertSame(['b'], $impatient->unsettled(), 'it goes on being this producer\'s');
        $transport->sent = [];
        $transport->before = static function (string $method) use ($transport, $spread): void {
            if (count($transport->parts()) === 3) {
                $transport->before = null;
                self::work($spread->consumer('one'), 2);
            }
        };
        self::assertSame(GroupState::Received, $spread->producer()->submit('b', ['3', '4'])->state);
    }

    public function testASecondAttemptCarriesTheFirstReceipt(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $transport = new FlakyTransport($address);
        $spec = (new V1\NamedSpreadSpec())->setFeederCount(2)->setLease(Times::toDuration('lease', 1));
        $spread = $transport->spread(self::name(), $spec);
        $epoch = $spread->open()->epoch;
        $lent = null;
        $transport->after = function (string $method) use ($transport, $spread, &$sidecar, &$lent, $address): void {
            if ($method === 'SubmitGroups') { // received, its job lent, the answer lost, and all of it forgotten
                $transport->after = null;
                [$lent] = $spread->pull('one', 1)->jobs;
                $sidecar->process->end(SIGKILL);
                $sidecar = new Sidecar($address);
                throw new Unavailable('lost');
            }
        };
        self::assertSame(GroupState::Received, $spread->producer()->submit('a', ['job'])->state);
        [$first, $second, $third] = $transport->parts();
        self::assertFalse($first->hasFirstReceipt());
        foreach ([$second, $third] as $again) { // to the spread that was not open, and to the one that was opened
            self::assertSame($epoch, (int) $again->getFirstReceipt()->getEpoch());
            self::assertSame(1, (int) $again->getFirstReceipt()->getLease()->getSeconds());
        }
        self::assertSame(1, $spread->describe()->quarantinedGroupCount);
        [$again] = self::take($spread->consumer('two'), 1);
        self::assertTrue($again->redelivered);
        self::assertNotSame($epoch, $again->epoch);
        self::assertTrue($lent->expired(), 'no two unexpired leases are on one job');
    }

    public function testAfterARestartASubmissionBringsBackTheOthers(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $spread = (new Client($address))->namedSpread('mail', feederCount: 2, lease: 1);
        $producer = $spread->producer();
        $producer->submit('a', ['a0', 'a1']);
        $producer->submit('b', ['b0']);
        $sidecar->process->end(SIGKILL);
        $sidecar = new Sidecar($address);
        $producer->submit('c', ['c0']);
        self::assertSame(3, $spread->describe()->groupCount);
        self::assertSame(['a0', 'a1', 'b0', 'c0'], self::work($spread->consumer('one'), 4));
        self::assertCount(3, $producer->wait(timeout: 10));
    }

    public function testAfterARestartWaitingBringsBackWhatIsNotSettled(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $spread = (new Client($address))->namedSpread('mail', feederCount: 2, lease: 1);
        $producer = $spread->producer();
        $producer->submit('a', ['a0', 'a1', 'a2']);
        $producer->submit('b', ['b0']);
        [$first, $second] = $spread->pull('one', 2)->jobs;
        self::assertSame(['a0', 'b0'], [$first->job, $second->job]);
        $spread->settle([[$first, Verdict::Ack], [$second, Verdict::Ack]]);
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        self::assertSame(['a'], $producer->unsettled());
        $sidecar->process->end(SIGKILL);
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        $sidecar = new Sidecar($address);
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        self::assertSame(2, $spread->describe()->readyJobCount);
        $jobs = self::take($spread->consumer('one', batchSize: 2), 2);
        self::assertSame(['a1', 'a2'], self::bytes($jobs), 'what was settled is not dealt again');
        $spread->settle([[$jobs[0], Verdict::Ack], [$jobs[1], Verdict::Terminate]]);
        $settled = $producer->wait(timeout: 10);
        self::assertSame(['b', 'a'], array_keys($settled), 'nothing is forgotten when a timeout passes');
        self::assertSame([0, 1], [$settled['b']->deadLetterCount, $settled['a']->deadLetterCount]);
    }

    public function testManyGroupsWithLongNamesAreWaitedFor(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 8);
        $producer = $spread->producer();
        for ($number = 0; $number < 1_100; ++$number) { // more than a question takes
            $producer->submit(str_pad((string) $number, 256, 'x'), ['job']);
        }
        $consumer = $spread->consumer('one', batchSize: 550);
        self::assertCount(1_100, [...self::work($consumer, 550), ...self::work($consumer, 550)]);
        self::assertCount(1_100, $producer->wait(timeout: 10));
    }

    /** @dataProvider modes */
    public function testVerdicts(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        $told = [];
        $consumer = self::consumer($spread, $mode, told: static function (LeasedJob $job, Settlement $settlement) use (&$told): void {
            $told[] = [$job->job, $settlement];
        });
        $producer = $spread->producer();
        $producer->submit('a', ['0', '1', '2', '3', '4']);
        [$done, $failed, $later, $unbegun, $hopeless] = self::take($consumer, 5);
        $done->ack();
        $failed->nack();
        $later->nack(delay: 3_600 / 7);
        $unbegun->release();
        $hopeless->terminate();
        self::assertSame([], $told, 'verdicts are queued');
        $expected = [
            ['0', Settlement::Settled], ['1', Settlement::Returned], ['2', Settlement::Returned],
            ['3', Settlement::Returned], ['4', Settlement::DeadLettered],
        ];
        $flushed = array_map(static fn (array $pair): array => [$pair[0]->job, $pair[1]], $consumer->flush());
        self::assertSame([$expected, $expected], [$flushed, $told]);
        self::assertSame([], $consumer->flush());
        $again = self::take($consumer, 2);
        self::assertSame(['1', '3'], self::bytes($again));
        self::assertSame([2, true], [$again[0]->attempt, $again[0]->redelivered]);
        array_map(static fn (LeasedJob $job) => $job->ack(), $again);
        $consumer->close();
        self::assertCount(7, $told);
        self::assertSame(0, $consumer->staleCount());
        self::assertSame([1, 1], [$spread->describe()->deadLetterCount, $spread->describe()->returnedJobCount]);
        $spread->discard();
    }

    /** @dataProvider modes */
    public function testALeaseLastsAsLongAsItIsExtended(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, lease: 1);
        $spread->producer()->submit('a', ['0']);
        $consumer = self::consumer($spread, $mode);
        [$job] = self::take($consumer, 1);
        self::assertEqualsWithDelta(0.9, $job->leaseEndsIn(), 0.2);
        for ($i = 0; $i < 3; ++$i) {
            usleep(600_000);
            self::assertTrue($job->extend());
            self::assertEqualsWithDelta(0.9, $job->leaseEndsIn(), 0.2);
        }
        usleep(1_100_000);
        self::assertTrue($job->expired());
        self::assertFalse($job->extend());
        $job->ack();
        self::assertSame([[$job, Settlement::Stale]], $consumer->flush());
        self::assertSame(1, $consumer->staleCount());
        $consumer->close();
        $spread->discard();
    }

    /** @dataProvider modes */
    public function testAJobWhoseLeaseHasEndedIsNotHandedOut(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, lease: 1);
        $spread->producer()->submit('a', ['0', '1', '2']);
        $consumer = self::consumer($spread, $mode);
        $seen = [];
        foreach ($consumer as $job) {
            self::assertFalse($job->expired());
            $seen[] = [$job->job, $job->attempt];
            $job->ack();
            count($seen) > 1 || usleep(1_200_000);
            if (count($seen) === 4) {
                break;
            }
        }
        $consumer->close();
        sort($seen);
        self::assertSame([['0', 1], ['0', 2], ['1', 2], ['2', 2]], $seen, 'the others were lent once, and dropped');
        self::assertSame(1, $consumer->staleCount());
        self::assertSame(SpreadState::Closed, $spread->close(wait: 2)->state);
    }

    /** @dataProvider modes */
    public function testALeaseBeginsWhenTheJobIsLentAndNotWhenItIsAskedFor(string $mode): void
    {
        $spread = self::client()->namedSpread($name = self::name(), feederCount: 1, lease: 1);
        $spread->open();
        $code = 'require $argv[1]; usleep(1_500_000);'
            . ' (new Offbeat\Client($argv[2]))->namedSpread($argv[3], feederCount: 1, lease: 1)->producer()->submit("late", ["job"]);';
        $process = new Process([PHP_BINARY, '-r', $code, '--', __DIR__ . '/../autoload.php', Sidecar::shared()->address, $name]);
        [$job] = self::take(self::consumer($spread, $mode), 1);
        self::assertSame([1, true], [$job->attempt, $job->leaseEndsIn() > 0.5]);
        self::assertSame(0, $process->wait(10), $process->output());
        $spread->discard();
    }

    /** @dataProvider modes */
    public function testVerdictsDoNotWaitLongForOthers(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, lease: 2);
        $spread->producer()->submit('a', ['0', '1', '2', '3']);
        $consumer = self::consumer($spread, $mode);
        $settled = [];
        foreach ($consumer as $job) {
            $settled[] = $spread->describe()->settledJobCount;
            $job->ack();
            if (count($settled) === 4) {
                break;
            }
            usleep(550_000);
        }
        self::assertSame([0, 0], array_slice($settled, 0, 2));
        self::assertGreaterThanOrEqual(2, $settled[3]);
        $consumer->close();
        self::assertSame([0, 4], [$consumer->staleCount(), $spread->describe()->settledJobCount]);
    }

    /** @dataProvider modes */
    public function testClosingGivesBackWhatWasNotHandedOut(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        $spread->producer()->submit('a', ['0', '1', '2', '3']);
        $consumer = self::consumer($spread, $mode, ahead: 4);
        [$done, $open] = self::take($consumer, 2);
        $done->ack();
        $consumer->close();
        $consumer->close();
        self::assertSame([], self::take($consumer, 1));
        $held = $spread->describe();
        self::assertSame([1, 1, 2], [$held->settledJobCount, $held->leasedJobCount, $held->returnedJobCount]);
        self::assertSame(['2', '3'], self::bytes($spread->pull('two', 9)->jobs));
        self::thrown(\LogicException::class, static fn () => $open->ack());
        self::assertSame(Settlement::Settled, $spread->settle([[$open, Verdict::Ack]])[0]);
    }

    /** @dataProvider modes */
    public function testASlowJobCostsThoseThatWaitBehindItNoAttempt(string $mode): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, lease: 1, maxAttempts: 2);
        $spread->producer()->submit('g', ['slow', '1', '2', '3']);
        $consumer = self::consumer($spread, $mode, ahead: 4);
        $seen = [];
        foreach ($consumer as $job) {
            $seen[] = $job->job;
            if ($job->job === 'slow') {
                usleep(1_200_000);
            }
            $job->ack();
            if (count($seen) === 5) {
                break;
            }
        }
        $consumer->close();
        self::assertSame(['slow', 'slow'], array_slice($seen, 0, 2));
        self::assertSame(['slow'], array_column(iterator_to_array($spread->deadLetters(), false), 'job'));
        self::assertSame([3 + 1, 2], [$spread->describe()->settledJobCount, $consumer->staleCount()]);
    }

    /** @dataProvider modes */
    public function testAConsumerOutlivesARestart(string $mode): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $spread = (new Client($address))->namedSpread('mail', feederCount: 1, lease: 1);
        $producer = $spread->producer();
        $producer->submit('a', ['0', '1', '2']);
        $consumer = self::consumer($spread, $mode);
        self::assertSame(['0'], self::work($consumer, 1));
        [$job] = self::take($consumer, 1);
        $sidecar->process->end(SIGKILL);
        $job->ack();
        [$fetched] = self::take($consumer, 1);
        self::assertSame(['2', $job->epoch], [$fetched->job, $fetched->epoch], 'its lease lasts on');
        $sidecar = new Sidecar($address);
        self::assertSame([Settlement::Stale], array_column($consumer->flush(), 1));
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
        self::assertEqualsWithDelta(0.8, microtime(true) - $begun, 0.3);
        $begun = microtime(true);
        $consumer->close();
        self::assertLessThan(0.2, microtime(true) - $begun);
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
            self::assertSame((string) $taken, $job->job);
            $job->ack();
            if (++$taken % 3 === 0) {
                $most = max($most, $spread->describe()->leasedJobCount);
            }
            if ($taken === 100) {
                break;
            }
        }
        self::assertContains($most, range(10, 30)); // what was handed out is held until its verdict is sent
        $consumer->close();
        self::assertSame(100, $spread->describe()->settledJobCount);
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

    public function testDeadLetters(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxAttempts: 1);
        $producer = $spread->producer();
        $producer->submit('a', array_map('strval', range(0, 249)));
        $jobs = $spread->pull('one', 250)->jobs;
        $spread->settle([[$jobs[0], Verdict::Terminate]]);
        $spread->settle(array_map(static fn (LeasedJob $job): array => [$job, Verdict::Nack, 0], array_slice($jobs, 1)));
        $letters = iterator_to_array($spread->deadLetters(), false);
        self::assertSame(range(0, 249), array_column($letters, 'number'));
        self::assertSame(range(0, 249), array_column($letters, 'index'));
        self::assertSame(['a', '0', 1], [$letters[0]->groupId, $letters[0]->job, $letters[0]->attemptCount]);
        self::assertSame([DeadLetterCause::Terminated, DeadLetterCause::Attempts], [$letters[0]->cause, $letters[1]->cause]);
        self::assertSame(250, $producer->wait(timeout: 5)['a']->deadLetterCount);
        self::assertSame(SpreadState::Closed, $spread->close()->state);

        $another = self::client()->namedSpread($spread->describe()->spread, feederCount: 1, maxAttempts: 1);
        self::assertSame(SpreadState::Closed, $another->describe()->state, 'it can be read without opening it');
        $refused = self::thrown(FailedPrecondition::class, static fn () => $another->producer()->submit('b', ['0']));
        self::assertSame('ERROR_REASON_SPREAD_CLOSING', $refused->reason);
        self::assertSame(250, $another->deleteDeadLetters(array_column($letters, 'number')));
        self::assertSame(0, $another->deleteDeadLetters([]));
        self::assertSame([], iterator_to_array($another->deadLetters()));
    }

    /** @dataProvider modes */
    public function testASpreadThatIsClosingIsDrainedByWhoeverComes(string $mode): void
    {
        $name = self::name();
        $spread = self::client()->namedSpread($name, feederCount: 1);
        $spread->producer()->submit('a', ['0', '1']);
        self::assertSame(SpreadState::Draining, $spread->close()->state);
        $consumer = self::consumer(self::client()->namedSpread($name, feederCount: 1), $mode);
        $seen = [];
        foreach ($consumer as $job) {
            $seen[] = $job->job;
            $job->ack();
        }
        self::assertSame([['0', '1'], 0], [$seen, $consumer->staleCount()]);
        self::assertSame(SpreadState::Closed, $spread->describe()->state);
    }

    /** What PHP-FPM does: each process ends soon, and waits for nothing. */
    public function testShortProcesses(): void
    {
        $code = 'require $argv[1]; $spread = (new Offbeat\Client($argv[2]))->namedSpread($argv[3], feederCount: 1);';
        $run = static function (string $more, string $name) use ($code): string {
            $command = [PHP_BINARY, '-r', "$code $more", '--', __DIR__ . '/../autoload.php', Sidecar::shared()->address, $name];
            $process = new Process($command);
            self::assertSame(0, $process->wait(10), $process->output());

            return $process->output();
        };
        $name = self::name();
        self::assertSame('received', $run('echo $spread->producer()->submit("a", ["0", "1", "2"])->state->value;', $name));
        $pull = '$jobs = $spread->pull("web-" . getmypid(), 2)->jobs;'
            . ' $spread->settle(array_map(fn ($job) => [$job, Offbeat\NamedSpread\Verdict::Ack], $jobs));'
            . ' echo implode(",", array_column($jobs, "job"));';
        self::assertSame(['0,1', '2', ''], [$run($pull, $name), $run($pull, $name), $run($pull, $name)]);
        self::assertSame(3, self::client()->namedSpread($name, feederCount: 1)->describe()->settledJobCount);
    }

    /** Producers and consumers of other processes, and a service that is killed under them. */
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
        $spread = (new Client($address))->namedSpread('mail', feederCount: 4, lease: 1, maxAttempts: 1_000);
        self::assertSame(SpreadState::Closed, $spread->close(wait: 10)->state);
        $leases = [];
        $settled = [];
        foreach ($consumers as $consumer) {
            self::assertSame(0, $consumer->wait(10), $consumer->output());
            foreach (explode("\n", trim($consumer->output())) as $line) {
                $event = json_decode($line, true, flags: JSON_THROW_ON_ERROR);
                if ($event['event'] === 'begin') {
                    $leases[$event['job']][] = $event;
                } elseif (($event['settlement'] ?? null) === 'SETTLED') {
                    $settled["$event[group]/$event[index]"] = true;
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

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        self::assertSame(range(1, 5), array_map(static fn (Verdict $case): int => $case->toMessage(), Verdict::cases()));
        foreach ([Settlement::class, GroupState::class, SpreadState::class, DeadLetterCause::class, SpreadPolicy::class] as $enum) {
            $numbers = range(1, count($enum::cases()));
            self::assertSame($enum::cases(), array_map([$enum, 'fromMessage'], $numbers));
        }
    }
}
