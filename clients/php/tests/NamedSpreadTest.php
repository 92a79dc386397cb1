<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\NamedSpread\DeadLetterCause;
use Offbeat\NamedSpread\EmptyReason;
use Offbeat\NamedSpread\GroupState;
use Offbeat\NamedSpread\GroupStatus;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\NamedSpread\SettleOutcome;
use Offbeat\NamedSpread\SettleResult;
use Offbeat\NamedSpread\SpreadState;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Times;
use Offbeat\V1;

/** Named spreads: what producers keep through restarts, and what there is besides consumers. */
final class NamedSpreadTest extends NamedSpreadTestCase
{
    public function testASpreadLivesFromOpenToClosed(): void
    {
        $name = self::name();
        $spread = self::client()->namedSpread($name, feederCount: 2, policy: SpreadPolicy::Cooldown, maxOpenGroups: 9);
        $opened = $spread->open();
        self::assertSame([$name, SpreadState::Open], [$opened->spreadName, $opened->state]);
        [$order, $limits] = [$opened->spec->order, $opened->spec->limits];
        self::assertSame([SpreadPolicy::Cooldown, 2, 9], [$order->policy, $order->feederCount, $order->maxOpenGroups]);
        self::assertSame([5, 1_024, 65_536], [$limits->maxAttempts, $limits->maxConsumerLeases, $limits->maxGroupCount]);
        self::assertSame([1_000_000, 64 << 20], [$limits->maxJobCount, $limits->maxByteCount]);
        self::assertSame(30, Times::seconds($opened->spec->leaseDuration));

        $producer = $spread->producer();
        $status = $producer->submit('a', ["a0\xff", 'a1', '']);
        self::assertSame([GroupState::Received, 3, 0, []], [$status->state, $status->jobCount, $status->settledJobCount, $status->settledRanges]);
        $producer->submit('42', ['b0']);
        self::assertSame(['a', '42'], $producer->unsettled());

        $pulled = $spread->pull('one', 10);
        self::assertNull($pulled->emptyReason);
        self::assertSame(["a0\xff", 'b0', 'a1', ''], array_column($pulled->jobs, 'payload'));
        self::assertSame([0, 0, 1, 2], array_column($pulled->jobs, 'jobIndex'));
        self::assertSame([0, 1, 2, 3], array_column($pulled->jobs, 'sequence'));
        [$first] = $pulled->jobs;
        self::assertSame(['a', 1, $opened->epoch, false], [$first->groupId, $first->attempt, $first->epoch, $first->redelivered]);
        self::assertEqualsWithDelta(30, $first->leaseEndsIn(), 1);
        self::assertEqualsWithDelta(microtime(true) + 30, (float) $first->leaseEndTime()->format('U.u'), 1);
        self::thrown(\LogicException::class, static fn () => $first->ack());
        self::assertSame(4, $spread->describe()->counts->leasedJobCount);

        $acks = array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Ack], $pulled->jobs);
        self::assertSame(array_fill(0, 4, SettleOutcome::Acked), array_column($spread->settle($acks), 'outcome'));
        self::assertSame([], $spread->settle([]));
        $settled = $producer->wait(timeout: 10);
        self::assertSame(['a', '42'], array_values(array_map(static fn (GroupStatus $one): string => $one->groupId, $settled)));
        self::assertSame([[], []], [$producer->unsettled(), $producer->wait()]);

        $closed = $spread->close(wait: 5);
        self::assertSame([SpreadState::Closed, 4, 4], [$closed->state, $closed->counts->settledJobCount, $closed->certificate->jobCount]);
        self::assertSame(EmptyReason::Ended, $spread->pull('one', 1, wait: 20)->emptyReason);
        self::assertSame([], iterator_to_array($spread->consumer('one')));
        self::assertSame([], iterator_to_array($spread->stream('one')));
        $names = static fn (): array => array_column(iterator_to_array(self::client()->listSpreads(), false), 'spreadName');
        self::assertContains($name, $names());
        $spread->discard();
        self::assertNotContains($name, $names());
        $stale = array_column($spread->settle($acks), 'outcome');
        self::assertSame(array_fill(0, 4, SettleOutcome::Stale), $stale);
        self::assertNotContains($name, $names(), 'settling opens nothing');
    }

    public function testSpreadsAreListedPageByPage(): void
    {
        $sidecar = new Sidecar();
        $client = new Client($sidecar->address);
        $names = array_map(static fn (int $number): string => sprintf('%03d', $number), range(1, 230));
        foreach ($names as $name) {
            $client->namedSpread($name, feederCount: 1)->open();
        }
        self::assertSame($names, array_column(iterator_to_array($client->listSpreads(), false), 'spreadName'));
    }

    public function testLimitsCanBeChanged(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxJobCount: 2);
        $spread->producer()->submit('a', ['0', '1']);
        $full = self::thrown(ResourceExhausted::class, static fn () => $spread->producer(patience: 0)->submit('b', ['2']));
        self::assertSame('ERROR_REASON_LIMIT_REACHED', $full->reason);
        $updated = $spread->update(maxJobCount: 3, maxAttempts: 1);
        self::assertSame([3, 1, 1_024], [$updated->spec->limits->maxJobCount, $updated->spec->limits->maxAttempts, $updated->spec->limits->maxConsumerLeases]);
        self::assertSame(2, $updated->counts->readyJobCount);
        self::assertSame(GroupState::Received, $spread->producer()->submit('b', ['2'])->state);
        self::assertEquals($updated->spec, $spread->open()->spec, 'its first parameters still open it');
        [$job] = $spread->pull('one', 1)->jobs;
        self::assertSame(SettleOutcome::DeadLettered, $spread->settle([[$job, SettleAction::Nack]])[0]->outcome);
        $updated = $spread->update(maxConsumerLeases: 7, maxGroupCount: 8, maxByteCount: 9_000);
        self::assertSame([7, 8, 9_000, 3], [
            $updated->spec->limits->maxConsumerLeases, $updated->spec->limits->maxGroupCount,
            $updated->spec->limits->maxByteCount, $updated->spec->limits->maxJobCount,
        ]);
        $spread->discard();
    }

    public function testAnEmptyPullSaysWhy(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxConsumerLeases: 1);
        self::assertSame([[], EmptyReason::NoReadyJob], [$spread->pull('one', 1)->jobs, $spread->pull('one', 1)->emptyReason]);
        $spread->producer()->submit('a', ['0', '1']);
        $pulled = $spread->pull('one', 2);
        self::assertSame([1, null], [count($pulled->jobs), $pulled->emptyReason]);
        self::assertSame(EmptyReason::ConsumerAtLimit, $spread->pull('one', 1)->emptyReason);
        self::assertNull($spread->pull('two', 1)->emptyReason);
        $spread->settle([[$pulled->jobs[0], SettleAction::Ack]]);
        self::assertSame(EmptyReason::NoReadyJob, $spread->pull('one', 1)->emptyReason);
        self::assertSame(SpreadState::Draining, $spread->close()->state);
        $spread->discard();
    }

    public function testJobsOfPullsAreSettledWithResults(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, leaseDuration: 2);
        $spread->producer()->submit('a', ['0', '1', '2', '3']);
        $jobs = $spread->pull('one', 4)->jobs;
        usleep(500_000);
        [$extended, $released, $returned, $dead] = $spread->settle([
            [$jobs[0], SettleAction::ExtendLease],
            [$jobs[1], SettleAction::Release, 3_600],
            [$jobs[2], SettleAction::Nack, new \DateInterval('PT1H')],
            [$jobs[3], SettleAction::DeadLetter],
        ]);
        self::assertSame(SettleOutcome::Extended, $extended->outcome);
        self::assertEqualsWithDelta(microtime(true) + 2, (float) $extended->leaseEndTime->format('U.u'), 0.3);
        self::assertEquals($extended->leaseEndTime, $jobs[0]->leaseEndTime());
        self::assertGreaterThan(0.3, (float) $jobs[0]->leaseEndTime()->format('U.u') - (float) $jobs[1]->leaseEndTime()->format('U.u'));
        self::assertEquals([new SettleResult(SettleOutcome::Returned), new SettleResult(SettleOutcome::Returned)], [$released, $returned]);
        self::assertEquals(new SettleResult(SettleOutcome::DeadLettered), $dead);
        self::assertSame(EmptyReason::NoReadyJob, $spread->pull('two', 4)->emptyReason, 'what was released waits for its delay');
        $refused = self::thrown(InvalidArgument::class, static fn () => $spread->settle([[$jobs[0], SettleAction::Ack, 5]]));
        self::assertSame('settlements[0].delay', $refused->field);
        $spread->discard();
    }

    public function testDeadLettersAreRedriven(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxAttempts: 1);
        $producer = $spread->producer();
        $producer->submit('a', ['0', '1', '2']);
        $settlements = array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Nack], $spread->pull('one', 3)->jobs);
        $spread->settle($settlements);
        self::assertSame(3, $producer->wait(timeout: 5)['a']->deadLetterCount);
        [$first, , $last] = array_column(iterator_to_array($spread->deadLetters(), false), 'number');
        self::assertSame(2, $spread->redriveDeadLetters(new \ArrayIterator([$first, $last, 12_345])));
        self::assertSame(0, $spread->redriveDeadLetters([$first, $last]), 'they are there once');
        self::assertSame(0, $spread->redriveDeadLetters([]));
        $again = $spread->pull('one', 3)->jobs;
        self::assertSame([['0', 1], ['2', 1]], array_map(static fn (LeasedJob $job): array => [$job->payload, $job->attempt], $again));
        $spread->settle(array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Ack], $again));
        self::assertSame(['1'], array_column(iterator_to_array($spread->deadLetters(), false), 'payload'));
        self::assertSame(1, $spread->describe()->counts->deadLetterCount);
        $many = range(0, 9_999); // three calls
        self::assertSame(1, $spread->redriveDeadLetters($many));
        $spread->discard();
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
            ['spec.order.feeder_count', static fn () => self::client()->namedSpread('x', feederCount: 0)->open()],
            ['spec.order.feeder_count', static fn () => self::client()->namedSpread('x', feederCount: 2 ** 40)],
            ['spec.lease_duration', static fn () => self::client()->namedSpread('x', feederCount: 1, leaseDuration: 0.5)->open()],
            ['spread_name', static fn () => self::client()->namedSpread("\xff", feederCount: 1)],
            ['max_pulled_job_count', static fn () => $spread->pull('one', 0)],
            ['max_wait_duration', static fn () => $spread->pull('one', 1, wait: 21)],
            ['max_wait_duration', static fn () => $spread->pull('one', 1, wait: -1)],
            ['consumer_id', static fn () => $spread->consumer("\xff")],
            ['patience', static fn () => $spread->consumer('one', patience: -1)],
            ['credit', static fn () => self::take($spread->stream('one', window: 0), 1)],
            ['group_id', static fn () => $producer->submit("\xff", ['1'])],
            ['payloads[1]', static fn () => $producer->submit('b', ['1', 2])],
            ['groups[0].payloads[0]', static fn () => $producer->submit('b', [str_repeat('x', (256 << 10) + 1)])],
            ['groups[0].commit.job_count', static fn () => $producer->submit('b', [])],
            ['numbers[0]', static fn () => $spread->deleteDeadLetters([-1])],
            ['numbers[0]', static fn () => $spread->redriveDeadLetters([-1])],
            ['limits.max_attempts', static fn () => $spread->update(maxAttempts: 0)],
            ['limits.max_group_count', static fn () => $spread->update(maxGroupCount: 2 ** 32 + 1)],
            ['spec.limits.max_job_count', static fn () => self::client()->namedSpread('x', feederCount: 1, maxJobCount: 0)->open()],
            ['timeout', static fn () => $producer->wait(timeout: 0)],
        ] as [$field, $ask]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $ask, $field)->field);
        }
        self::assertSame(['a'], $producer->unsettled(), 'what was refused is forgotten');
        [$job] = self::take($spread->consumer('one'), 1);
        foreach ([-1, 86_401, NAN] as $delay) {
            self::assertSame('delay', self::thrown(InvalidArgument::class, static fn () => $job->nack($delay))->field);
            self::assertSame('delay', self::thrown(InvalidArgument::class, static fn () => $job->release($delay))->field);
        }
    }

    public function testLargeGroupsGoInParts(): void
    {
        $transport = new FlakyTransport(Sidecar::shared()->address);
        $spread = $transport->spread(self::name());
        $jobs = array_map(static fn (int $n): string => str_repeat(chr($n), 200 << 10), range(1, 13));
        $producer = $spread->producer();
        self::assertSame(13, $producer->submit('bytes', $jobs)->jobCount);
        $firsts = array_map(static fn (V1\GroupPart $part): int => (int) $part->getFirstJobIndex(), $transport->parts());
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

    /** As by a service that restarts again at once. */
    public function testASpreadThatIsLostAsSoonAsItIsOpenIsOpenedAgain(): void
    {
        foreach (['describe', 'submit'] as $call) {
            $transport = new FlakyTransport(Sidecar::shared()->address);
            $spread = $transport->spread($name = self::name());
            $same = (new Client(Sidecar::shared()->address))->namedSpread($name, feederCount: 2);
            $losses = 2;
            $transport->after = static function (string $method) use ($same, &$losses): void {
                if ($method === 'OpenSpread' && $losses-- > 0) {
                    $same->discard();
                }
            };
            if ($call === 'describe') {
                self::assertSame(0, $spread->describe()->counts->groupCount);
            } else {
                self::assertSame(GroupState::Received, $spread->producer(patience: 5)->submit('a', ['0'])->state);
            }
            self::assertLessThan(0, $losses, 'it was opened a third time');
        }
    }

    public function testAGroupWhosePartsAreLostIsBegunAgain(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $transport = new FlakyTransport($address);
        $spec = FlakyTransport::spec()->setLeaseDuration(Times::toDuration('lease_duration', 1));
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
        $firsts = array_map(static fn (V1\GroupPart $part): int => (int) $part->getFirstJobIndex(), $transport->parts());
        self::assertSame([0, 4, 8, 0, 4, 8, 12], $firsts);
    }

    public function testAtALimitAProducerWaits(): void
    {
        $transport = new FlakyTransport(Sidecar::shared()->address);
        $spec = FlakyTransport::spec()->setLimits((new V1\SpreadLimits())->setMaxJobCount(3));
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
        $spec = FlakyTransport::spec()->setLeaseDuration(Times::toDuration('lease_duration', 1));
        $spread = $transport->spread(self::name(), $spec);
        $epoch = $spread->open()->epoch;
        $leased = null;
        $transport->after = function (string $method) use ($transport, $spread, &$sidecar, &$leased, $address): void {
            if ($method === 'SubmitGroups') { // received, its job leased, the answer lost, and all of it forgotten
                $transport->after = null;
                [$leased] = $spread->pull('one', 1)->jobs;
                $sidecar->process->end(SIGKILL);
                $sidecar = new Sidecar($address);
                throw new Unavailable('lost');
            }
        };
        self::assertSame(GroupState::Received, $spread->producer()->submit('a', ['job'])->state);
        [$first, $second, $third] = $transport->parts();
        self::assertFalse($first->getCommit()->hasFirstReceipt());
        foreach ([$second, $third] as $again) { // to the spread that was not open, and to the one that was opened
            self::assertSame($epoch, (int) $again->getCommit()->getFirstReceipt()->getEpoch());
            self::assertSame(1, (int) $again->getCommit()->getFirstReceipt()->getLeaseDuration()->getSeconds());
        }
        self::assertSame(1, $spread->describe()->counts->quarantinedGroupCount);
        [$again] = self::take($spread->consumer('two'), 1);
        self::assertTrue($again->redelivered);
        self::assertNotSame($epoch, $again->epoch);
        self::assertTrue($leased->expired(), 'no two unexpired leases are on one job');
    }

    public function testAfterARestartASubmissionBringsBackTheOthers(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $spread = (new Client($address))->namedSpread('mail', feederCount: 2, leaseDuration: 1);
        $producer = $spread->producer();
        $producer->submit('a', ['a0', 'a1']);
        $producer->submit('b', ['b0']);
        $sidecar->process->end(SIGKILL);
        $sidecar = new Sidecar($address);
        $producer->submit('c', ['c0']);
        self::assertSame(3, $spread->describe()->counts->groupCount);
        self::assertSame(['a0', 'a1', 'b0', 'c0'], self::work($spread->consumer('one'), 4));
        self::assertCount(3, $producer->wait(timeout: 10));
    }

    public function testAfterARestartWaitingBringsBackWhatIsNotSettled(): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $sidecar = new Sidecar($address);
        $spread = (new Client($address))->namedSpread('mail', feederCount: 2, leaseDuration: 1);
        $producer = $spread->producer();
        $producer->submit('a', ['a0', 'a1', 'a2']);
        $producer->submit('b', ['b0']);
        [$first, $second] = $spread->pull('one', 2)->jobs;
        self::assertSame(['a0', 'b0'], [$first->payload, $second->payload]);
        $spread->settle([[$first, SettleAction::Ack], [$second, SettleAction::Ack]]);
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        self::assertSame(['a'], $producer->unsettled());
        $sidecar->process->end(SIGKILL);
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        $sidecar = new Sidecar($address);
        self::thrown(DeadlineExceeded::class, static fn () => $producer->wait(timeout: 0.2));
        self::assertSame(2, $spread->describe()->counts->readyJobCount);
        $jobs = self::take($spread->consumer('one', batchSize: 2), 2);
        self::assertSame(['a1', 'a2'], self::payloads($jobs), 'what was settled is not leased again');
        $spread->settle([[$jobs[0], SettleAction::Ack], [$jobs[1], SettleAction::DeadLetter]]);
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

    public function testDeadLetters(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxAttempts: 1);
        $producer = $spread->producer();
        $producer->submit('a', array_map('strval', range(0, 249)));
        $jobs = $spread->pull('one', 250)->jobs;
        $spread->settle([[$jobs[0], SettleAction::DeadLetter]]);
        $spread->settle(array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Nack, 0], array_slice($jobs, 1)));
        $letters = iterator_to_array($spread->deadLetters(), false);
        self::assertSame(range(0, 249), array_column($letters, 'number'));
        self::assertSame(range(0, 249), array_column($letters, 'jobIndex'));
        self::assertSame(['a', '0', 1], [$letters[0]->groupId, $letters[0]->payload, $letters[0]->attemptCount]);
        self::assertSame([DeadLetterCause::Consumer, DeadLetterCause::AttemptsExhausted], [$letters[0]->cause, $letters[1]->cause]);
        self::assertSame(250, $producer->wait(timeout: 5)['a']->deadLetterCount);
        self::assertSame(SpreadState::Closed, $spread->close()->state);

        $another = self::client()->namedSpread($spread->describe()->spreadName, feederCount: 1, maxAttempts: 1);
        self::assertSame(SpreadState::Closed, $another->describe()->state, 'it can be read without opening it');
        $refused = self::thrown(FailedPrecondition::class, static fn () => $another->producer()->submit('b', ['0']));
        self::assertSame('ERROR_REASON_SPREAD_CLOSING', $refused->reason);
        self::assertSame(250, $another->deleteDeadLetters(array_column($letters, 'number')));
        self::assertSame(0, $another->deleteDeadLetters([]));
        self::assertSame([], iterator_to_array($another->deadLetters()));
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
            . ' $spread->settle(array_map(fn ($job) => [$job, Offbeat\NamedSpread\SettleAction::Ack], $jobs));'
            . ' echo implode(",", array_column($jobs, "payload"));';
        self::assertSame(['0,1', '2', ''], [$run($pull, $name), $run($pull, $name), $run($pull, $name)]);
        self::assertSame(3, self::client()->namedSpread($name, feederCount: 1)->describe()->counts->settledJobCount);
    }

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        self::assertSame(range(1, 5), array_map(static fn (SettleAction $case): int => $case->toMessage(), SettleAction::cases()));
        foreach ([SettleOutcome::class, GroupState::class, SpreadState::class, DeadLetterCause::class, EmptyReason::class, SpreadPolicy::class] as $enum) {
            $numbers = range(1, count($enum::cases()));
            self::assertSame($enum::cases(), array_map([$enum, 'fromMessage'], $numbers));
        }
    }
}
