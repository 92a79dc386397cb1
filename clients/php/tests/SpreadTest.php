<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\Unavailable;
use Offbeat\Spread\ShortagePolicy;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Spread\SpreadTurn;

/** Spreads have the order of the reference programs, and pull groups lazily. */
final class SpreadTest extends OffbeatTestCase
{
    /** @param list<int> $sizes */
    private static function groups(array $sizes): \Generator
    {
        foreach ($sizes as $group => $size) {
            yield array_map(static fn (int $index): array => [$group, $index], $size === 0 ? [] : range(0, $size - 1));
        }
    }

    /** @return list<mixed> */
    private static function jobs(iterable $turns): array
    {
        return array_map(static fn (SpreadTurn $turn): mixed => $turn->job, iterator_to_array($turns, false));
    }

    public function testOrdersAreThoseOfTheVectors(): void
    {
        $client = self::client();
        foreach (array_chunk(self::vectors('spread_feeders.json')['cases'], 9) as [$golden]) {
            $spread = $client->spread(self::groups($golden['groups']), $golden['feeders'], timeout: 10);
            $turns = iterator_to_array($spread);
            self::assertSame($golden['order'], self::jobs($turns));
            self::assertSame(array_column($golden['order'], 0), array_column($turns, 'groupIndex'));
            self::assertSame(array_keys($turns), array_column($turns, 'sequence'));
            self::assertSame(count($turns), $spread->certificate()->jobCount);
        }
    }

    public function testWindowsChangeNoOrder(): void
    {
        mt_srand(4);
        $sizes = array_map(static fn (): int => [0, 1, 5, 40, 700][mt_rand(0, 4)], range(1, 30));
        $orders = array_map(
            static fn (array $windows): array => self::jobs(
                self::client()->spread(self::groups($sizes), 7, jobWindow: $windows[0], groupWindow: $windows[1]),
            ),
            [[1, 0], [2, 1], [256, 0], [65_536, 65_536], [3, 100]],
        );
        self::assertCount(array_sum($sizes), $orders[0]);
        foreach ($orders as $order) {
            self::assertSame($orders[0], $order);
        }
    }

    public function testTurnsCanBeTakenOnce(): void
    {
        $spread = self::client()->spread([['a', 'b'], ['c']], 2);
        foreach ($spread as $turn) {
            self::assertSame('a', $turn->job);
            break;
        }
        self::thrown(\LogicException::class, static fn () => iterator_to_array($spread));
    }

    /** @dataProvider policies */
    public function testAFreshClientGoesOnFromAToken(SpreadPolicy $policy): void
    {
        mt_srand(6);
        $sizes = array_map(static fn (): int => [0, 1, 3, 30, 200][mt_rand(0, 4)], range(1, 220));
        $spread = self::client()->spread(self::groups($sizes), 7, $policy);
        $last = array_sum($sizes) - 1;
        self::assertGreaterThan(8_192, $last);
        $tokens = [$spread->resumeToken()];
        $turns = [];
        foreach ($spread as $turn) {
            $turns[] = $turn;
            if (in_array(count($turns), [4_096, 5_003, $last], true)) {
                $tokens[count($turns)] = $spread->resumeToken();
            }
        }
        self::assertCount($last + 1, $turns);
        foreach ($tokens as $place => $token) {
            $rest = self::client()->resumeSpread(self::groups($sizes), $token, timeout: 20);
            self::assertSame($token, $rest->resumeToken());
            self::assertEquals(array_slice($turns, $place), iterator_to_array($rest, false), "from $place");
            self::assertEquals($spread->certificate(), $rest->certificate());
        }
        $others = $sizes;
        --$others[array_search(1, $sizes, true)];
        $differs = self::thrown(
            FailedPrecondition::class,
            static fn () => self::client()->resumeSpread(self::groups($others), $tokens[$last])->getIterator()->current(),
        );
        self::assertSame(['resume', 'ERROR_REASON_ORDER_DIFFERS'], [$differs->field, $differs->reason]);
        foreach (['', 'no token at all', "\1" . substr($tokens[0], 1, 9), "\2" . substr($tokens[0], 1), substr($tokens[0], 0, 10)] as $bad) {
            $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->resumeSpread([], $bad), bin2hex($bad));
            self::assertSame('resume_token', $refused->field);
        }
        $changed = $tokens[5_003];
        $changed[20] = chr(ord($changed[20]) ^ 1); // in the sidecar's own token
        $refused = self::thrown(InvalidArgument::class, static fn () => self::client()->resumeSpread(self::groups($sizes), $changed)->getIterator()->current());
        self::assertStringStartsWith('resume', $refused->field);
    }

    /** @return list<array{SpreadPolicy}> */
    public static function policies(): array
    {
        return [[SpreadPolicy::RoundRobin], [SpreadPolicy::Cooldown]];
    }

    public function testNothingIsPulledBeforeItIsNeeded(): void
    {
        $pulled = [];
        $group = static function (string $name) use (&$pulled): \Generator {
            for ($number = 0; $number < 3; ++$number) {
                $pulled[] = "$name$number";
                yield "$name$number";
            }
        };
        $groups = static function () use (&$pulled, $group): \Generator {
            foreach (['a', 'b', 'c'] as $name) {
                $pulled[] = $name;
                yield $group($name);
            }
        };
        $spread = self::client()->spread($groups(), 1, jobWindow: 1, timeout: 10);
        $turns = $spread->getIterator();
        self::assertSame([], $pulled);
        self::assertSame('a0', $turns->current()->job);
        self::assertNotContains('b', $pulled);
        self::assertSame(['a', 'a0'], array_slice($pulled, 0, 2));
        self::thrown(\LogicException::class, static fn () => $spread->certificate());
        $jobs = [];
        for (; $turns->valid(); $turns->next()) {
            $jobs[] = $turns->current()->job;
        }
        self::assertSame(['a0', 'a1', 'a2', 'b0', 'b1', 'b2', 'c0', 'c1', 'c2'], $jobs);
        self::assertSame(9, $spread->certificate()->jobCount);
    }

    public function testGroupsMayBeEndless(): void
    {
        $endless = static function (int $name): \Generator {
            while (true) {
                yield $name;
            }
        };
        $groups = (static function () use ($endless): \Generator {
            for ($name = 0; ; ++$name) {
                yield $endless($name);
            }
        })();
        $jobs = [];
        foreach (self::client()->spread($groups, 3, timeout: 10) as $turn) {
            $jobs[] = $turn->job;
            if (count($jobs) === 999) {
                break;
            }
        }
        self::assertSame(array_merge(...array_fill(0, 333, [0, 1, 2])), $jobs);
    }

    public function testCooldownAndItsCertificate(): void
    {
        $spread = self::client()->spread(
            [['a'], ['b', 'c']],
            3,
            policy: SpreadPolicy::Cooldown,
            maxOpenGroupCount: 3,
            onShortage: ShortagePolicy::Wait,
        );
        $turns = array_map(static fn (SpreadTurn $turn): array => [$turn->groupIndex, $turn->job], iterator_to_array($spread));
        self::assertSame([[1, 'b'], [0, 'a'], [null, null], [1, 'c']], $turns);
        self::assertSame([3, 2], [$spread->certificate()->minGapTurns, $spread->certificate()->groupCount]);
        $refused = self::thrown(InvalidArgument::class, static fn () => self::jobs(
            self::client()->spread([new \NoRewindIterator(new \ArrayIterator([1]))], 2, policy: SpreadPolicy::Cooldown),
        ));
        self::assertSame('groups[0]', $refused->field);
    }

    public function testRefusals(): void
    {
        $refused = self::thrown(InvalidArgument::class, static fn () => self::jobs(self::client()->spread([], 0)));
        self::assertSame(['spec.order.feeder_count', 'ERROR_REASON_OUT_OF_RANGE'], [$refused->field, $refused->reason]);
        $refused = self::thrown(
            InvalidArgument::class,
            static fn () => self::jobs(self::client()->spread([], 3, maxOpenGroupCount: 9)),
        );
        self::assertSame('spec.order.max_open_group_count', $refused->field);
    }

    public function testWithoutASidecarAndTooLate(): void
    {
        $nobody = stream_socket_server('tcp://127.0.0.1:0');
        $address = stream_socket_get_name($nobody, false);
        $silent = new Client($address);
        self::thrown(DeadlineExceeded::class, static fn () => self::jobs($silent->spread([[1]], 1, timeout: 0.3)));
        fclose($nobody);
        $lost = self::thrown(Unavailable::class, static fn () => self::jobs($silent->spread([[1]], 1)));
        self::assertStringContainsString('offbeat serve', $lost->getMessage());
    }

    public function testEveryCaseHasAValueOfItsMessage(): void
    {
        foreach ([SpreadPolicy::cases(), ShortagePolicy::cases()] as $cases) {
            self::assertSame([1, 2], array_map(static fn (\UnitEnum $case): int => $case->toMessage(), $cases));
        }
    }
}
