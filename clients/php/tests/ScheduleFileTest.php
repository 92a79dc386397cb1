<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Client;
use Offbeat\DecidedBy;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\NotFound;
use Offbeat\Internal\Transport\CurlTransport;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Mode;
use Offbeat\V1;

/** Schedules by name without a sidecar, from the file that it exported. */
final class ScheduleFileTest extends OffbeatTestCase
{
    private const TOML = <<<'TOML'
        [[schedule]]
        name = "bank-sync"
        version = 1
        period = "8h"
        slot_count = 96

        [[schedule]]
        name = "bank-sync"
        version = 2
        period = "1.5s"
        resolution = "500ms"
        slot_count = 3
        anchor_time = "2026-01-01T00:00:00.500Z"
        salt = "é"

        [[schedule]]
        name = "nightly"
        version = 1
        calendar = { unit = "DAY", time_zone = "Europe/Berlin" }
        TOML;

    private static string $toml;
    private static Sidecar $sidecar;
    private string $path;

    public static function setUpBeforeClass(): void
    {
        self::$toml = tempnam(sys_get_temp_dir(), 'offbeat-') . '.toml';
        file_put_contents(self::$toml, self::TOML);
        self::$sidecar = new Sidecar(flags: ['--schedules', self::$toml]);
    }

    public static function tearDownAfterClass(): void
    {
        unlink(self::$toml);
    }

    protected function setUp(): void
    {
        $this->path = tempnam(sys_get_temp_dir(), 'offbeat-') . '.json';
        file_put_contents($this->path, self::exported());
    }

    protected function tearDown(): void
    {
        @unlink($this->path);
    }

    public function testNamesAreDecidedFromTheFile(): void
    {
        $remote = new Client(self::$sidecar->address);
        $local = new Client(mode: Mode::Local, schedules: $this->path);
        $auto = new Client(self::$sidecar->address, mode: Mode::Auto, schedules: $this->path);
        foreach (['bank-sync/1', 'bank-sync/2'] as $name) {
            $expected = $remote->assignSlot($name, 'acme', self::noon(), 3);
            self::assertEquals($expected->pieces, $local->assignSlot($name, 'acme', self::noon(), 3)->pieces);
            self::assertStringStartsWith("$name/default/", $expected->nextRun()->runKey);
            self::assertSame($remote->describeSchedule($name)->canonicalText, $local->describeSchedule($name)->canonicalText);
            self::assertSame(DecidedBy::Local, $auto->assignSlots($name, ['acme'])->decidedBy);
            self::assertNull($local->localRefusal($name));
        }
        self::assertSame(DecidedBy::Sidecar, $auto->assignSlot('nightly/1', 'acme')->decidedBy);
        self::assertStringContainsString('calendar', $local->localRefusal('nightly/1'));
        $refusals = array_map(
            static fn (Client $client): NotFound => self::thrown(NotFound::class, static fn () => $client->assignSlot('bank-sync/3', 'acme')),
            [$remote, $local, $auto],
        );
        foreach ($refusals as $refusal) {
            self::assertSame($refusals[0]->getMessage(), $refusal->getMessage());
        }
        self::thrown(NeedsSidecar::class, static fn () => (new Client(mode: Mode::Local))->assignSlot('bank-sync/1', 'acme'));
    }

    public function testTheVariableNamesTheFile(): void
    {
        putenv("OFFBEAT_SCHEDULES=$this->path");
        try {
            self::assertSame(96, (new Client(mode: Mode::Local))->describeSchedule('bank-sync/1')->slotCount);
        } finally {
            putenv('OFFBEAT_SCHEDULES');
        }
    }

    public function testAChangedFileIsReadAgain(): void
    {
        $local = new Client(mode: Mode::Local, schedules: $this->path);
        $local->assignSlot('bank-sync/1', 'acme');
        $tree = json_decode(self::exported(), true);
        $tree['schedules'][] = ['reference' => ['name' => 'new', 'version' => 1]] + $tree['schedules'][0];
        $this->replace(json_encode($tree));
        $log = self::logged(static function () use ($local): void {
            usleep(1_050_000); // the client checks the file at most once a second
            self::assertStringStartsWith('new/1/', $local->assignSlot('new/1', 'acme')->nextRun()->runKey);
        });
        self::assertSame('', $log);
    }

    public function testAVersionKeepsItsMeaning(): void
    {
        $local = new Client(mode: Mode::Local, schedules: $this->path);
        $before = $local->describeSchedule('bank-sync/1')->fingerprint;
        $tree = json_decode(self::exported(), true);
        $tree['schedules'] = [['reference' => $tree['schedules'][0]['reference']] + $tree['schedules'][1]];
        foreach ([json_encode($tree), '{"schedules": 5}', 'no JSON', null] as $text) {
            $text === null ? unlink($this->path) : $this->replace($text);
            $log = self::logged(static function () use ($local, $before): void {
                usleep(1_050_000);
                for ($times = 0; $times < 3; ++$times) {
                    self::assertSame($before, $local->describeSchedule('bank-sync/1')->fingerprint);
                }
            });
            self::assertSame(1, substr_count($log, 'the schedules stay as they were'), $log);
        }
    }

    public function testAFileThatSaysAnotherFingerprintIsRefused(): void
    {
        $tree = json_decode(self::exported(), true);
        $tree['schedules'][0]['spec']['slotCount'] = 48;
        $this->replace(json_encode($tree));
        $local = new Client(mode: Mode::Local, schedules: $this->path);
        $thrown = self::thrown(InvalidArgument::class, static fn () => $local->assignSlot('bank-sync/1', 'acme'));
        self::assertSame('bank-sync/1: fingerprint', $thrown->field);
        $local->assignSlot('bank-sync/2', 'acme');
    }

    public function testASpecThatCannotBeReadIsRefused(): void
    {
        foreach ([['ofTomorrow' => 5], ['period' => 'soon'], ['slotCount' => []], ['slotCount' => 7]] as $wrong) {
            $tree = json_decode(self::exported(), true);
            $tree['schedules'][0]['spec'] = $wrong + $tree['schedules'][0]['spec'];
            $this->replace(json_encode($tree));
            $local = new Client(mode: Mode::Local, schedules: $this->path);
            self::thrown(InvalidArgument::class, static fn () => $local->assignSlot('bank-sync/1', 'acme'), json_encode($wrong));
            $local->assignSlot('bank-sync/2', 'acme');
        }
    }

    public function testAFileThatIsNoneIsRefused(): void
    {
        foreach (['', '[]', '{"schedules": [5]}', '{"schedules": [{"reference": {"name": "a", "version": 1}}]}', null] as $text) {
            $text === null ? unlink($this->path) : $this->replace($text);
            foreach ([Mode::Local, Mode::Auto] as $mode) {
                $client = new Client(mode: $mode, schedules: $this->path);
                self::thrown(InvalidArgument::class, static fn () => $client->assignSlot('bank-sync/1', 'acme'), (string) $text);
                self::thrown(InvalidArgument::class, static fn () => $client->assignSlot('bank-sync/1', 'acme'), (string) $text);
            }
        }
    }

    private static function exported(): string
    {
        $transport = new CurlTransport(Endpoint::of(self::$sidecar->address));
        $response = new V1\ListSchedulesResponse();
        $response->mergeFromString($transport->call('offbeat.v1.SlotService/ListSchedules', '', 5.0));

        return $response->serializeToJsonString();
    }

    /** Replaces the file atomically, as a deployment does. */
    private function replace(string $text): void
    {
        file_put_contents("$this->path.new", $text);
        rename("$this->path.new", $this->path);
    }

    /** The text that is written to PHP's error log. */
    private static function logged(\Closure $then): string
    {
        $file = tempnam(sys_get_temp_dir(), 'offbeat-');
        $before = ini_set('error_log', $file);
        try {
            $then();

            return file_get_contents($file);
        } finally {
            ini_set('error_log', (string) $before);
            unlink($file);
        }
    }
}
