<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateTimeImmutable;
use Offbeat\Client;
use Offbeat\Schedule;
use Offbeat\Testing\DecidesLocally;
use Offbeat\Testing\FakeClock;
use PHPUnit\Framework\TestCase;

/** The helpers of Offbeat\Testing for tests of applications. */
final class TestingTest extends TestCase
{
    use DecidesLocally;

    public function testNowIsThatOfTheClock(): void
    {
        $schedule = new Schedule(period: 3_600);
        self::assertSame('2026-01-01T00:00:00+00:00', $this->offbeatClock()->now->format('c'));
        $first = $this->offbeat()->assignSlot($schedule, 'acme')->nextRun()->startTime;
        $this->offbeatClock()->now = $first->modify('+1 second');
        $second = $this->offbeat()->assignSlots($schedule, ['acme'])[0]->nextRun->startTime;
        self::assertEquals($first->modify('+1 hour'), $second);
        $this->offbeatClock()->travel(new \DateInterval('PT1H'));
        self::assertEquals($second, $this->offbeat()->assignSlot($schedule, 'acme')->lastRun->startTime);
        $due = $this->offbeat()->listDueRuns($schedule, ['acme'], watermark: $first);
        self::assertEquals($this->offbeatClock()->now, $due->nextWatermarkTime);
        self::assertCount(1, $due);
        self::assertEquals($this->offbeatClock()->now, $this->offbeat()->listDueRuns($schedule, [], $first)->nextWatermarkTime);
    }

    /** @depends testNowIsThatOfTheClock */
    public function testEachTestHasAClockOfItsOwn(): void
    {
        self::assertSame('2026-01-01T00:00:00+00:00', $this->offbeatClock()->now->format('c'));
        self::assertNotSame($this->offbeatClock(), (new self())->offbeatClock());
    }

    public function testTheAnswersAreThoseOfASidecar(): void
    {
        $clock = new FakeClock(new DateTimeImmutable('2026-03-01T12:00:00Z'));
        $fake = $clock->client()->assignSlot(new Schedule(period: 86_400), 'acme', nextRunCount: 3);
        $real = (new Client(Sidecar::shared()->address))->assignSlot(new Schedule(period: 86_400), 'acme', $clock->now, 3);
        self::assertEquals($real->pieces, $fake->pieces);
        $clock->travel(-0.5);
        self::assertSame('2026-03-01T11:59:59.500', $clock->now->format('Y-m-d\TH:i:s.v'));
    }
}
