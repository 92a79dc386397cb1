<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\ResourceExhausted;
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

/** Named spreads: everything except consumers. */
final class NamedSpreadTest extends NamedSpreadTestCase
{
    public function testASpreadLivesFromOpenToClosed(): void
    {
        $name = self::name();
        $spread = self::client()->namedSpread($name, feederCount: 2, policy: SpreadPolicy::Cooldown, maxOpenGroupCount: 9);
        $opened = $spread->open();
        self::assertSame([$name, SpreadState::Open], [$opened->spreadName, $opened->state]);
        [$order, $limits] = [$opened->spec->order, $opened->spec->limits];
        self::assertSame([SpreadPolicy::Cooldown, 2, 9], [$order->policy, $order->feederCount, $order->maxOpenGroupCount]);
        self::assertSame([5, 1_024, 65_536], [$limits->maxAttemptCount, $limits->maxConsumerLeaseCount, $limits->maxGroupCount]);
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
        self::assertSame(EmptyReason::SpreadClosed, $spread->pull('one', 1, wait: 20)->emptyReason);
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
        $updated = $spread->update(maxJobCount: 3, maxAttemptCount: 1);
        self::assertSame([3, 1, 1_024], [$updated->spec->limits->maxJobCount, $updated->spec->limits->maxAttemptCount, $updated->spec->limits->maxConsumerLeaseCount]);
        self::assertSame(2, $updated->counts->readyJobCount);
        self::assertSame(GroupState::Received, $spread->producer()->submit('b', ['2'])->state);
        self::assertEquals($updated->spec, $spread->open()->spec, 'its first parameters still open it');
        [$job] = $spread->pull('one', 1)->jobs;
        self::assertSame(SettleOutcome::DeadLettered, $spread->settle([[$job, SettleAction::Nack]])[0]->outcome);
        $updated = $spread->update(maxConsumerLeaseCount: 7, maxGroupCount: 8, maxByteCount: 9_000);
        self::assertSame([7, 8, 9_000, 3], [
            $updated->spec->limits->maxConsumerLeaseCount, $updated->spec->limits->maxGroupCount,
            $updated->spec->limits->maxByteCount, $updated->spec->limits->maxJobCount,
        ]);
        $spread->discard();
    }

    public function testAnEmptyPullSaysWhy(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxConsumerLeaseCount: 1);
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
            ['credit.job_count', static fn () => self::take($spread->stream('one', window: 0), 1)],
            ['group_id', static fn () => $producer->submit("\xff", ['1'])],
            ['payloads[1]', static fn () => $producer->submit('b', ['1', 2])],
            ['groups[0].jobs[0].payload', static fn () => $producer->submit('b', [str_repeat('x', (256 << 10) + 1)])],
            ['groups[0].commit.job_count', static fn () => $producer->submit('b', [])],
            ['limits.max_attempt_count', static fn () => $spread->update(maxAttemptCount: 0)],
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

    /** As under PHP-FPM: each process ends soon and waits for nothing. */
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
