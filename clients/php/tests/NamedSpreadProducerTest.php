<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\NamedSpread\GroupState;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\Times;
use Offbeat\V1;

/** Producers of named spreads: what they submit, and what they keep through restarts. */
final class NamedSpreadProducerTest extends NamedSpreadTestCase
{
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

    /** As when the service restarts twice in a row. */
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

        // If another producer has opened the spread already, the part is refused instead.
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
            if ($method === 'SubmitGroups') { // received and leased, then answer and state are lost
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
        foreach ([$second, $third] as $again) { // to the lost spread, and to the reopened one
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
        for ($number = 0; $number < 1_100; ++$number) { // more than fit into a request
            $producer->submit(str_pad((string) $number, 256, 'x'), ['job']);
        }
        $consumer = $spread->consumer('one', batchSize: 550);
        self::assertCount(1_100, [...self::work($consumer, 550), ...self::work($consumer, 550)]);
        self::assertCount(1_100, $producer->wait(timeout: 10));
    }
}
