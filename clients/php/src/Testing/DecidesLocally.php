<?php

declare(strict_types=1);

namespace Offbeat\Testing;

use Offbeat\Client;

/**
 * For test cases of PHPUnit: each test has a client that decides without a sidecar, and a clock of its own.
 *
 *     final class SignUpTest extends TestCase
 *     {
 *         use Offbeat\Testing\DecidesLocally;
 *
 *         public function testSync(): void
 *         {
 *             $this->offbeatClock()->travel(60);
 *             $run = $this->offbeat()->assignSlot($schedule, 'acme')->nextRun();
 */
trait DecidesLocally
{
    private ?FakeClock $offbeatClock = null;
    private ?Client $offbeat = null;

    protected function offbeatClock(): FakeClock
    {
        return $this->offbeatClock ??= new FakeClock();
    }

    /** @param ?string $schedules the file of schedules by name; by default OFFBEAT_SCHEDULES, else none */
    protected function offbeat(?string $schedules = null): Client
    {
        return $this->offbeat ??= $this->offbeatClock()->client($schedules);
    }
}
