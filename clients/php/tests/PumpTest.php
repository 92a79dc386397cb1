<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\InvalidArgument;
use Offbeat\NamedSpread\EmptyReason;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\LeaseToken;
use Offbeat\NamedSpread\NamedSpread;
use Offbeat\NamedSpread\Pump;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\NamedSpread\SettleOutcome;
use Offbeat\Times;

/** The pump moves jobs of a spread into another queue, a few at a time. */
final class PumpTest extends NamedSpreadTestCase
{
    /** The same token in the tests of all clients. */
    private const TEXT = '7.12345678901.3';

    public function testSmallGroupsPassALargeOneAndFewJobsAreHandedOver(): void
    {
        $spread = self::spread();
        $producer = $spread->producer();
        $producer->submit('large', self::numbers(400));
        for ($tenant = 0; $tenant < 5; ++$tenant) {
            $producer->submit("small-$tenant", self::numbers(4));
        }
        $queue = [];
        $most = 0;
        $done = [];
        $pump = $spread->pump('pump', static function (LeasedJob $job) use (&$queue): void {
            $queue[] = [$job->groupId, (string) $job->token()];
        });
        while (count($done) < 420) {
            self::assertTrue($pump->step());
            $most = max($most, count($queue));
            foreach (array_splice($queue, 0, 3) as [$group, $token]) {
                self::assertSame(SettleOutcome::Acked, self::settle($spread, $token, SettleAction::Ack));
                $done[] = $group;
            }
        }
        self::assertLessThanOrEqual(4, $most);
        $lastSmall = max(array_keys(array_filter($done, static fn (string $group): bool => $group !== 'large')));
        self::assertLessThan(200, array_count_values(array_slice($done, 0, $lastSmall))['large']);
        self::assertCount(6, $producer->wait(timeout: 10));
        $spread->discard();
    }

    public function testNoMoreJobsAreHandedOverThanAreSettled(): void
    {
        $spread = self::spread();
        self::submit($spread, 6);
        $pump = $spread->pump('pump', self::into($queue));
        self::assertTrue($pump->step());
        self::assertTrue($pump->step());
        self::assertSame(['0', '1', '2', '3'], self::payloads($queue));
        self::assertSame(SettleOutcome::Acked, self::settle($spread, (string) $queue[0]->token(), SettleAction::Ack));
        self::assertTrue($pump->step());
        self::assertSame(['0', '1', '2', '3', '4'], self::payloads($queue));
        $spread->discard();
    }

    public function testOnePullTakes16Jobs(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 2);
        self::submit($spread, 40);
        $pump = $spread->pump('pump', self::into($queue));
        foreach ([16, 32, 40] as $count) {
            self::assertTrue($pump->step());
            self::assertCount($count, $queue);
        }
        $spread->discard();
    }

    public function testAJobAtWorkIsKeptLongerThanALease(): void
    {
        $spread = self::spread();
        self::submit($spread, 1);
        $pump = $spread->pump('pump', self::into($queue));
        self::stepFor(3.5, $pump);
        self::assertSame([1], array_column($queue, 'attempt'));
        self::assertSame(SettleOutcome::Acked, self::settle($spread, (string) $queue[0]->token(), SettleAction::Ack));
        $spread->discard();
    }

    public function testAJobThatIsSettledIsForgotten(): void
    {
        $spread = self::spread();
        self::submit($spread, 3);
        $pump = $spread->pump('pump', self::into($queue));
        self::assertTrue($pump->step());
        foreach ([0, 1] as $done) {
            self::assertSame(SettleOutcome::Acked, self::settle($spread, (string) $queue[$done]->token(), SettleAction::Ack));
        }
        $held = fn (): int => count($this->held);
        self::assertSame(3, $held->call($pump));
        self::stepFor(1, $pump);
        self::assertSame(1, $held->call($pump));
        $spread->discard();
    }

    public function testLeasesOfTwoEpochsAreExtended(): void
    {
        $spread = self::spread();
        self::submit($spread, 1);
        $pump = $spread->pump('pump', self::into($queue));
        self::assertTrue($pump->step());
        $spread->discard();
        self::submit($spread, 1);
        self::stepFor(2.5, $pump);
        self::assertSame([1, 1], array_column($queue, 'attempt'));
        [$old, $new] = array_map(static fn (LeasedJob $job): LeaseToken => $job->token(), $queue);
        self::assertNotSame($old->epoch, $new->epoch);
        $results = $spread->settle([[$old, SettleAction::Ack], [$new, SettleAction::Ack]]);
        self::assertSame([SettleOutcome::Stale, SettleOutcome::Acked], array_column($results, 'outcome'));
        $spread->discard();
    }

    public function testAJobThatIsLostComesAgain(): void
    {
        $spread = self::spread();
        self::submit($spread, 1);
        $pump = $spread->pump('pump', self::into($queue), holdFor: new \DateInterval('PT1S'));
        self::stepFor(10, $pump, static function () use (&$queue): bool {
            return count($queue) === 2;
        });
        self::assertSame([[0, 1], [0, 2]], array_map(static fn (LeasedJob $job): array => [$job->sequence, $job->attempt], $queue));
        [$first, $second] = array_map(static fn (LeasedJob $job): string => (string) $job->token(), $queue);
        self::assertSame(SettleOutcome::Stale, self::settle($spread, $first, SettleAction::ExtendLease));
        self::assertSame(SettleOutcome::Acked, self::settle($spread, $second, SettleAction::Ack));
        $spread->discard();
    }

    public function testARefusalIsThrownAndReleasesTheJobAndThoseBehindIt(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 2, maxAttemptCount: 1);
        self::submit($spread, 4);
        $isAway = true;
        $queue = [];
        $pump = $spread->pump('pump', static function (LeasedJob $job) use (&$queue, &$isAway): void {
            if ($isAway && $job->payload === '1') {
                throw new \ErrorException('the broker is away');
            }
            $queue[] = $job;
        });
        self::thrown(\ErrorException::class, $pump->step(...));
        self::assertSame(['0'], self::payloads($queue));
        $counts = $spread->describe()->counts;
        self::assertSame([1, 3], [$counts->leasedJobCount, $counts->returnedJobCount]);
        self::assertSame(EmptyReason::NoReadyJob, $spread->pull('other', 4)->emptyReason, 'they come a second later');
        $isAway = false;
        self::stepFor(10, $pump, static function () use (&$queue): bool {
            return count($queue) === 4;
        });
        self::assertSame(['0', '1', '2', '3'], self::payloads($queue));
        self::assertSame([], iterator_to_array($spread->deadLetters()), 'and cost no attempt');
        $spread->discard();
    }

    public function testWhatTheClosureThrowsIsThrownIfTheSidecarIsAway(): void
    {
        $sidecar = new Sidecar();
        $spread = (new Client($sidecar->address))->namedSpread(self::name(), feederCount: 2);
        self::submit($spread, 2);
        $pump = $spread->pump('pump', static function () use ($sidecar): void {
            $sidecar->process->end(SIGKILL);
            throw new \ErrorException('the broker is away');
        });
        self::thrown(\ErrorException::class, $pump->step(...));
    }

    public function testJobsWhoseLeaseHasEndedAreSkipped(): void
    {
        $spread = self::spread();
        self::submit($spread, 3);
        $queue = [];
        $pump = $spread->pump('pump', static function (LeasedJob $job) use (&$queue): void {
            $queue[] = $job;
            count($queue) > 1 || usleep(1_200_000);
        });
        self::assertTrue($pump->step());
        self::assertSame(['0'], self::payloads($queue));
        $spread->discard();
    }

    public function testAPumpEndsWithItsSpread(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 2);
        self::submit($spread, 1);
        $pump = $spread->pump('pump', self::into($queue));
        self::assertTrue($pump->step());
        $spread->close();
        self::assertTrue($pump->step(), 'its last job is not settled');
        self::assertSame(SettleOutcome::Acked, self::settle($spread, (string) $queue[0]->token(), SettleAction::Ack));
        self::assertFalse($pump->step());
        $pump->run();
    }

    public function testAPumpIsStoppedByItsClosure(): void
    {
        $spread = self::spread();
        self::submit($spread, 1);
        $pump = $spread->pump('pump', static function () use (&$pump): void {
            $pump->stop();
        });
        $begun = microtime(true);
        $pump->run();
        self::assertLessThan(1, microtime(true) - $begun);
        $pump->stop();
        $pump->run();
        self::assertLessThan(1, microtime(true) - $begun, 'a stop before it runs counts');
        $spread->discard();
    }

    public function testASignalStopsIt(): void
    {
        $spread = self::client()->namedSpread($name = self::name(), feederCount: 2);
        self::submit($spread, 1);
        $process = self::process($name);
        $token = $process->waitFor('/^(\d+\.\d+\.\d+)$/m');
        $process->signal(SIGTERM);
        self::assertSame(0, $process->wait(3), $process->output());
        self::assertStringEndsWith("stopped\n", $process->output());
        self::assertSame(SettleOutcome::Acked, self::settle($spread, $token, SettleAction::Ack), 'by another process');
        $spread->discard();
    }

    public function testErrorsAreLoggedAndASignalEndsAPause(): void
    {
        $spread = self::client()->namedSpread($name = self::name(), feederCount: 2);
        self::submit($spread, 1);
        $process = self::process($name, 'refuses');
        foreach (['0.5', '1', '2', '4'] as $pause) {
            $process->waitFor("/offbeat: the pump of $name continues in $pause s: the broker is away \\(RuntimeException\\)$/m");
        }
        $process->signal(SIGTERM);
        self::assertSame(0, $process->wait(2), $process->output());
        $spread->discard();
    }

    public function testATokenIsTheTextThatAllClientsRead(): void
    {
        $token = new LeaseToken(epoch: 7, sequence: 12_345_678_901, attempt: 3);
        self::assertSame(self::TEXT, (string) $token);
        self::assertEquals($token, LeaseToken::parse(self::TEXT));
        $largest = '9223372036854775807.9223372036854775807.2147483647';
        self::assertSame($largest, (string) LeaseToken::parse($largest));
        self::assertEquals(new LeaseToken(0, 1, 2), LeaseToken::parse('00.01.02'));
    }

    public function testTextsThatAreNoTokens(): void
    {
        $texts = [
            '', '1.2', '1.2.x', '1.2.3.4', '-1.2.3', "1.2.3\n", "\u{661}.2.3", "\xff.2.3", '9223372036854775808.2.3',
            '1.9223372036854775808.3', '1.2.2147483648',
        ];
        foreach ($texts as $text) {
            $refused = self::thrown(InvalidArgument::class, static fn () => LeaseToken::parse($text), $text);
            self::assertSame('token', $refused->field);
        }
    }

    public function testHoldForIsChecked(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 2);
        foreach ([0, -1, NAN, INF, new \DateInterval('PT0S')] as $span) {
            $refused = self::thrown(InvalidArgument::class, static fn () => $spread->pump('pump', self::into($queue), holdFor: $span));
            self::assertSame('hold_for', $refused->field);
        }
    }

    public function testAJobKnowsItsTokenAndTheLengthOfItsLease(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 2, leaseDuration: 2.5);
        self::submit($spread, 1);
        [$job] = $spread->pull('me', 1)->jobs;
        self::assertSame(2.5, Times::seconds($job->leaseDuration()));
        self::assertEquals(new LeaseToken($job->epoch, 0, 1), $job->token());
        [$result] = $spread->settle([[$job->token(), SettleAction::ExtendLease]]);
        self::assertSame(SettleOutcome::Extended, $result->outcome);
        self::assertGreaterThan($job->leaseEndTime(), $result->leaseEndTime);
        $spread->discard();
    }

    private static function spread(): NamedSpread
    {
        return self::client()->namedSpread(self::name(), feederCount: 2, leaseDuration: 1, maxConsumerLeaseCount: 4);
    }

    /** A pump in a process of its own. */
    private static function process(string $name, string $refuses = ''): Process
    {
        $process = new Process([PHP_BINARY, __DIR__ . '/processes/pump.php', Sidecar::shared()->address, $name, $refuses]);
        $process->waitFor('/running/');

        return $process;
    }

    /**
     * Puts jobs into a queue.
     *
     * @param ?list<LeasedJob> $queue
     */
    private static function into(?array &$queue): \Closure
    {
        $queue = [];

        return static function (LeasedJob $job) use (&$queue): void {
            $queue[] = $job;
        };
    }

    /** Steps the pump for $seconds, or until $isEnough. */
    private static function stepFor(float $seconds, Pump $pump, ?\Closure $isEnough = null): void
    {
        for ($end = microtime(true) + $seconds; microtime(true) < $end;) {
            self::assertTrue($pump->step());
            if ($isEnough !== null && $isEnough()) {
                return;
            }
        }
        self::assertNull($isEnough, "not within $seconds s");
    }

    /** Settles as another process does, which has only the token's text. */
    private static function settle(NamedSpread $spread, string $text, SettleAction $action): SettleOutcome
    {
        return $spread->settle([[LeaseToken::parse($text), $action]])[0]->outcome;
    }

    /** Submits $count jobs of one group. */
    private static function submit(NamedSpread $spread, int $count): void
    {
        $spread->producer()->submit('g', self::numbers($count));
    }

    /** @return list<string> */
    private static function numbers(int $count): array
    {
        return array_map('strval', range(0, $count - 1));
    }
}
