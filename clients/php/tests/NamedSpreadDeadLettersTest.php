<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\NamedSpread\DeadLetter;
use Offbeat\NamedSpread\DeadLetterCause;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\NamedSpread;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\NamedSpread\SpreadState;
use Offbeat\V1;

/** Dead letters of named spreads: listed, put back and deleted. */
final class NamedSpreadDeadLettersTest extends NamedSpreadTestCase
{
    public function testDeadLettersAreListedAndDeleted(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxAttemptCount: 1);
        $producer = $spread->producer();
        $producer->submit('a', array_map('strval', range(0, 249)));
        $jobs = $spread->pull('one', 250)->jobs;
        $spread->settle([[$jobs[0], SettleAction::DeadLetter]]);
        $spread->settle(array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Nack, 0], array_slice($jobs, 1)));
        $letters = iterator_to_array($spread->deadLetters(), false);
        self::assertSame(range(0, 249), array_column($letters, 'number'));
        self::assertSame([$spread->describe()->epoch], array_unique(array_column($letters, 'epoch')));
        self::assertSame(range(0, 249), array_column($letters, 'jobIndex'));
        self::assertSame(['a', '0', 1], [$letters[0]->groupId, $letters[0]->payload, $letters[0]->attemptCount]);
        self::assertSame([DeadLetterCause::Consumer, DeadLetterCause::AttemptsExhausted], [$letters[0]->cause, $letters[1]->cause]);
        self::assertSame(250, $producer->wait(timeout: 5)['a']->deadLetterCount);
        self::assertSame(SpreadState::Closed, $spread->close()->state);

        $another = self::client()->namedSpread($spread->describe()->spreadName, feederCount: 1, maxAttemptCount: 1);
        self::assertSame(SpreadState::Closed, $another->describe()->state, 'it can be read without opening it');
        $refused = self::thrown(FailedPrecondition::class, static fn () => $another->producer()->submit('b', ['0']));
        self::assertSame('ERROR_REASON_SPREAD_CLOSING', $refused->reason);
        self::assertSame(250, $another->deleteDeadLetters($letters));
        self::assertSame(0, $another->deleteDeadLetters([]));
        self::assertSame([], iterator_to_array($another->deadLetters()));
    }

    public function testDeadLettersAreRedriven(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1, maxAttemptCount: 1);
        [$first, $middle, $last] = self::deadLetters($spread, 'a', ['0', '1', '2']);
        self::assertSame(2, $spread->redriveDeadLetters(new \ArrayIterator([$first, $last, self::withNumber($last, 12_345)])));
        self::assertSame(0, $spread->redriveDeadLetters([$first, $last]), 'they are there once');
        self::assertSame(0, $spread->redriveDeadLetters([]));
        $again = $spread->pull('one', 3)->jobs;
        self::assertSame([['0', 1], ['2', 1]], array_map(static fn (LeasedJob $job): array => [$job->payload, $job->attempt], $again));
        $spread->settle(array_map(static fn (LeasedJob $job): array => [$job, SettleAction::Ack], $again));
        self::assertEquals([$middle], iterator_to_array($spread->deadLetters(), false));
        self::assertSame(1, $spread->describe()->counts->deadLetterCount);
        self::assertSame(1, $spread->redriveDeadLetters($spread->deadLetters()));
        $spread->discard();
    }

    public function testDeadLettersOfADiscardedSpreadAreNotThoseOfTheNextOne(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        [$stale] = self::deadLetters($spread, 'a', ['old']);
        $spread->discard();
        self::assertSame(0, $spread->redriveDeadLetters([$stale]), 'nor of one that is opened by this');
        [$new, $other] = self::deadLetters($spread, 'a', ['new', 'other']);
        self::assertSame($stale->number, $new->number);
        self::assertNotSame($stale->epoch, $new->epoch);
        self::assertSame(0, $spread->deleteDeadLetters([$stale]));
        self::assertSame(0, $spread->redriveDeadLetters([$stale]));
        self::assertEquals([$new, $other], iterator_to_array($spread->deadLetters(), false));
        self::assertSame(1, $spread->redriveDeadLetters([$stale, $new, self::withNumber($stale, $other->number)]));
        self::assertSame(1, $spread->deleteDeadLetters([$other, $stale]));
        $spread->discard();
    }

    public function testACallHasDeadLettersOfOneEpoch(): void
    {
        $transport = new FlakyTransport(Sidecar::shared()->address);
        $spread = $transport->spread(self::name());
        [$letter] = self::deadLetters($spread, 'a', ['0']);
        $stale = self::withNumber($letter, 7, $letter->epoch + 1);
        $many = [$letter, $stale, ...array_map(static fn (int $number): DeadLetter => self::withNumber($letter, $number), range(1, 4_096)), $stale];
        $transport->sent = [];
        self::assertSame(1, $spread->deleteDeadLetters($many));
        $sent = array_map(static function (array $call): array {
            $request = new V1\DeleteDeadLettersRequest();
            $request->mergeFromString($call[1]);

            return [$call[0], (int) $request->getEpoch(), count($request->getNumbers())];
        }, $transport->sent);
        self::assertSame([
            ['DeleteDeadLetters', $letter->epoch, 4_096],
            ['DeleteDeadLetters', $letter->epoch, 1],
            ['DeleteDeadLetters', $stale->epoch, 2],
        ], $sent);
        $spread->discard();
    }

    public function testRefusals(): void
    {
        $spread = self::client()->namedSpread(self::name(), feederCount: 1);
        [$letter] = self::deadLetters($spread, 'a', ['0']);
        foreach ([
            'letters[0]' => [$letter->number],
            'letters[1]' => new \ArrayIterator(['x' => $letter, 'y' => "$letter->number"]),
            'numbers[0]' => [self::withNumber($letter, -1)],
            'epoch' => [self::withNumber($letter, 0, epoch: 0)],
        ] as $field => $letters) {
            foreach ([$spread->redriveDeadLetters(...), $spread->deleteDeadLetters(...)] as $ask) {
                self::assertSame($field, self::thrown(InvalidArgument::class, static fn () => $ask($letters), $field)->field);
            }
        }
        self::assertSame(1, $spread->deleteDeadLetters([$letter]), 'what is refused changes nothing');
        $spread->discard();
    }

    /**
     * Submits a group and dead-letters its jobs.
     *
     * @param list<string> $payloads
     *
     * @return list<DeadLetter>
     */
    private static function deadLetters(NamedSpread $spread, string $groupId, array $payloads): array
    {
        $spread->producer()->submit($groupId, $payloads);
        $jobs = $spread->pull('one', count($payloads))->jobs;
        $spread->settle(array_map(static fn (LeasedJob $job): array => [$job, SettleAction::DeadLetter], $jobs));

        return iterator_to_array($spread->deadLetters(), false);
    }

    private static function withNumber(DeadLetter $letter, int $number, ?int $epoch = null): DeadLetter
    {
        return new DeadLetter($number, $epoch ?? $letter->epoch, $letter->groupId, $letter->jobIndex, $letter->payload, $letter->attemptCount, $letter->cause);
    }
}
