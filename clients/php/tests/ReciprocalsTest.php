<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Schedule;
use Offbeat\Times;

/** Kinds with conflicts between some of them, and with start delays. */
final class ReciprocalsTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testOnlyConflictingKindsAreKeptApart(string $kind): void
    {
        $client = self::client($kind);
        $all = $client->reciprocalSlots(self::eightSlots(), kindCount: 3);
        $chain = $client->reciprocalSlots(self::eightSlots(), kindCount: 3, kindConflicts: ['a' => [0, 1], 'b' => [1, 2]]);
        self::assertSame([0, 2, 5], array_column($all->kinds, 'idSlotIndex'));
        self::assertSame([0, 4, 0], array_column($chain->kinds, 'idSlotIndex')); // kinds 0 and 2 may meet
        self::assertSame([2, 4], [$all->gapSlotCount, $chain->gapSlotCount]);
    }

    public function testDelaysShortenTheBudgets(): void
    {
        $plain = self::client()->reciprocalSlots(self::eightSlots(), kindCount: 2);
        $delayed = self::client()->reciprocalSlots(self::eightSlots(), kindCount: 2, pollingDelay: 60, slotJobDelay: new \DateInterval('PT30S'));
        self::assertSame(4 * 3_600, Times::seconds($plain->runBudget)); // half the cycle
        foreach (['runBudget', 'independentRunBudget'] as $budget) {
            self::assertSame(Times::seconds($plain->$budget) - 90, Times::seconds($delayed->$budget));
        }
        self::assertSame(Times::seconds($plain->kinds[1]->runBudget) - 90, Times::seconds($delayed->kinds[1]->runBudget));
    }

    public function testWhatCannotBeIsRefused(): void
    {
        $ask = static fn (mixed ...$more): \Closure => static fn () => self::client()
            ->reciprocalSlots(self::eightSlots(), ...['kindCount' => 2] + $more);
        foreach ([
            ['kind_conflicts[1]', $ask(kindConflicts: [[0, 1], [0]])],
            ['kind_conflicts[0]', $ask(kindConflicts: [['0', '1']])],
            ['kind_conflicts[0]', $ask(kindConflicts: [0])],
            ['kind_conflicts[0].second_kind_index', $ask(kindConflicts: [[0, 2 ** 32 + 1]])],
            ['polling_delay', $ask(pollingDelay: new \DateInterval('P1M'))],
            ['slot_job_delay', $ask(slotJobDelay: NAN)],
        ] as [$field, $refused]) {
            self::assertSame($field, self::thrown(InvalidArgument::class, $refused, $field)->field);
        }
    }

    private static function eightSlots(): Schedule
    {
        return new Schedule(period: 28_800, slotCount: 8);
    }
}
