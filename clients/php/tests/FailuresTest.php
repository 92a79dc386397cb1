<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Offbeat\Client;
use Offbeat\Exception\BadIds;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NoAnswer;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\IdType;
use Offbeat\Schedule;

/** Failures, and how the client reports them. */
final class FailuresTest extends OffbeatTestCase
{
    private const UUID = '0190d7a2-1111-7abc-8def-0123456789ab';

    public function testWhatWouldBeMisunderstoodIsRefused(): void
    {
        $client = self::client();
        $schedule = self::eightHours();
        $asks = [
            ['ids[1]', static fn () => $client->assignSlots($schedule, ['a', 1])],
            ['ids[1]', static fn () => $client->assignSlots($schedule, ['a', self::UUID])],
            ['ids[65536]', static fn () => $client->assignSlots($schedule, [...array_fill(0, 65_536, 'x'), 1])],
            ['ids[0]', static fn () => $client->assignSlots($schedule, [null])],
            ['ids[0]', static fn () => $client->assignSlots($schedule, [true])],
            ['ids[1]', static fn () => $client->assignSlots($schedule, ['a', "\xff"])],
            ['ids[0]', static fn () => $client->assignSlots($schedule, [1], idType: IdType::Uuid)],
            ['id', static fn () => $client->assignSlot($schedule, "\xff")],
            ['id', static fn () => $client->assignSlot($schedule, 1.5, idType: IdType::Text)],
            ['schedule.spec.period', static fn () => $client->assignSlot(new Schedule(period: NAN), 1)],
            ['schedule.spec.period', static fn () => $client->assignSlot(new Schedule(period: INF), 1)],
            ['schedule.spec.period', static fn () => $client->assignSlot(new Schedule(period: new DateInterval('P1M')), 1)],
            ['schedule.spec.period', static fn () => $client->assignSlot(new Schedule(period: 0), 1)],
            ['schedule.spec.resolution', static fn () => $client->assignSlot(new Schedule(period: 60, resolution: new DateInterval('P1Y')), 1)],
            ['schedule.spec.salt', static fn () => $client->assignSlot(new Schedule(period: 60, salt: "\xc3"), 1)],
            ['schedule.spec.slot_count', static fn () => $client->assignSlots(new Schedule(period: 28_800, slotCount: 7), [])],
            ['schedule.spec.slot_count', static fn () => $client->describeSchedule(new Schedule(period: 60, slotCount: 2 ** 32 + 6))],
            ['schedule.spec.bucket_count', static fn () => $client->describeSchedule(new Schedule(period: 60, bucketCount: 2 ** 32 + 256))],
            ['next_run_count', static fn () => $client->assignSlot($schedule, 1, nextRunCount: 2 ** 32)],
            ['slot_index', static fn () => $client->reciprocalSlots($schedule, slotIndex: 2 ** 32, kindCount: 2)],
            ['kind_count', static fn () => $client->reciprocalSlots($schedule, kindCount: 2 ** 32 + 2)],
            ['run_times[1]', static fn () => $client->reciprocalSlots($schedule, runTimes: [60, new DateInterval('P1M')])],
            ['kind', static fn () => $client->assignSlot($schedule, 1, kind: "\xff")],
            ['kind', static fn () => $client->assignSlots($schedule, [1], kind: 'two words')],
            ['population', static fn () => $client->describeSchedule($schedule, population: 0)],
            ['timeout', static fn () => $client->describeSchedule($schedule, timeout: 0)],
            ['timeout', static fn () => $client->describeSchedule($schedule, timeout: NAN)],
            ['timeout', static fn () => new Client(timeout: -1)],
            ['address', static fn () => new Client('http://127.0.0.1:2328')],
            ['transport', static fn () => new Client(transport: 'pigeon')],
        ];
        foreach ($asks as [$field, $ask]) {
            $thrown = self::thrown(InvalidArgument::class, $ask, $field);
            self::assertSame($field, $thrown->field);
            self::assertNotSame('', $thrown->allowed);
            self::assertSame(1, preg_match('//u', $thrown->getMessage()));
        }
    }

    public function testBadIdsDoNotCostTheOthersTheirAnswer(): void
    {
        $client = self::client();
        $ids = [...array_fill(0, 65_540, self::UUID), 'oops', self::UUID];
        $thrown = self::thrown(
            BadIds::class,
            static fn () => $client->assignSlots(self::eightHours(), $ids, idType: IdType::Uuid),
        );
        self::assertCount(1, $thrown->errors);
        self::assertSame(
            [65_540, 'ids[65540]', 'ERROR_REASON_MALFORMED'],
            [$thrown->errors[0]->idIndex, $thrown->errors[0]->field, $thrown->errors[0]->reason],
        );
        $rows = $thrown->assignments;
        self::assertSame([-1, 75], array_slice($rows->slotIndexes, -2));
        self::assertFalse(isset($rows[65_540]));
        self::thrown(\OutOfBoundsException::class, static fn () => $rows[65_540]);
        self::assertSame(65_541, iterator_count($rows->accepted()));
        $returned = $client->assignSlots(self::eightHours(), $ids, idType: IdType::Uuid, returnErrors: true);
        self::assertEquals($thrown->errors, $returned->errors);
    }

    public function testManyBadIdsAreAllNamed(): void
    {
        $ids = array_fill(0, 3_000, 'oops');
        $rows = self::client()->assignSlots(self::eightHours(), $ids, idType: IdType::Uuid, returnErrors: true);
        self::assertSame(range(0, 2_999), array_column($rows->errors, 'idIndex'));
        self::assertSame([-1], array_values(array_unique($rows->slotIndexes)));
    }

    /** @dataProvider transports */
    public function testDetailsAreCarried(string $kind): void
    {
        $thrown = self::thrown(
            InvalidArgument::class,
            static fn () => self::client($kind)->describeSchedule(new Schedule(period: 28_800, slotCount: 7, salt: '✓')),
        );
        self::assertSame(['google.rpc.ErrorInfo', 'google.rpc.BadRequest'], array_column($thrown->details, 'type'));
        self::assertSame('schedule.spec.slot_count', $thrown->details[1]['fieldViolations'][0]['field']);
        self::assertSame('7', $thrown->value);
        self::assertNull($thrown->retryDelay);
    }

    /** @dataProvider transports */
    public function testMessagesThatAreTooLargeAreRefused(string $kind): void
    {
        $transport = self::transport($kind, Sidecar::shared()->address);
        $thrown = self::thrown(
            ResourceExhausted::class,
            static fn () => $transport->call('offbeat.v1.SlotService/AssignSlots', str_repeat("\x22\x01x", 3 << 20), 10.0),
        );
        self::assertSame('ERROR_REASON_MESSAGE_TOO_LARGE', $thrown->reason);
    }

    /**
     * The server refuses the method before it has read the request; libcurl before 8.0 often loses
     * such an answer.
     *
     * @dataProvider transports
     */
    public function testUnknownMethodsAreErrors(string $kind): void
    {
        $transport = self::transport($kind, Sidecar::shared()->address);
        foreach (['', str_repeat('x', 200_000)] as $question) {
            for ($i = 0; $i < 20; ++$i) {
                $thrown = self::thrown(OffbeatException::class, static fn () => $transport->call('offbeat.v1.SlotService/Dance', $question, 10.0));
                self::assertSame('ERROR_REASON_UNKNOWN_METHOD', $thrown->reason, (string) $thrown);
            }
        }
    }

    /** @dataProvider transports */
    public function testNobodyThereIsUnavailableSoon(string $kind): void
    {
        $started = microtime(true);
        $client = new Client('127.0.0.1:' . Sidecar::freePort(), transport: $kind);
        $thrown = self::thrown(Unavailable::class, static fn () => $client->describeSchedule(self::eightHours()));
        self::assertStringContainsString("is 'offbeat serve' running there, without TLS?", $thrown->getMessage());
        self::assertLessThan(5, microtime(true) - $started);
        $client = new Client('unix:/nowhere/offbeat.sock', timeout: 0.3, transport: $kind);
        self::thrown(Unavailable::class, static fn () => $client->describeSchedule(self::eightHours()));
        // Even if the timeout is shorter than the retries would take.
        $client = new Client('127.0.0.1:' . Sidecar::freePort(), timeout: 0.05, transport: $kind);
        self::thrown(NoAnswer::class, static fn () => $client->describeSchedule(self::eightHours()));
        self::thrown(Unavailable::class, static fn () => $client->describeSchedule(self::eightHours()));
    }

    /** @dataProvider transports */
    public function testSilenceEndsWithTheDeadline(string $kind): void
    {
        $silent = stream_socket_server('tcp://127.0.0.1:0');
        $client = new Client(stream_socket_get_name($silent, false), timeout: 0.3, transport: $kind);
        $started = microtime(true);
        self::thrown(OffbeatException::class, static fn () => $client->describeSchedule(self::eightHours()));
        self::assertLessThan(2, microtime(true) - $started);
        self::assertGreaterThan(0.25, microtime(true) - $started);
    }

    /** @dataProvider transports */
    public function testAStoppedSidecarIsNotWaitedForLongerThanTheDeadline(string $kind): void
    {
        $sidecar = new Sidecar();
        $client = new Client($sidecar->address, transport: $kind);
        $client->assignSlot(self::eightHours(), 7);
        $sidecar->process->freeze();
        $started = microtime(true);
        self::thrown(DeadlineExceeded::class, static fn () => $client->assignSlot(self::eightHours(), 7, timeout: 0.3));
        self::assertLessThan(5, microtime(true) - $started);
        $sidecar->process->thaw();
        self::assertGreaterThanOrEqual(0, $client->assignSlot(self::eightHours(), 7)->slotIndex);
    }

    /** @dataProvider transports */
    public function testAKilledSidecarIsMissedAndFoundAgain(string $kind): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $client = new Client($address, timeout: 0.5, transport: $kind);
        for ($i = 0; $i < 3; ++$i) {
            $sidecar = new Sidecar($address);
            self::assertGreaterThanOrEqual(0, $client->assignSlot(self::eightHours(), 7)->slotIndex);
            $sidecar->process->end(SIGKILL);
            self::thrown(Unavailable::class, static fn () => $client->assignSlot(self::eightHours(), 7));
        }
    }

    /** @dataProvider transports */
    public function testASidecarThatIsSoonBackIsNotMissed(string $kind): void
    {
        $address = '127.0.0.1:' . Sidecar::freePort();
        $client = new Client($address, transport: $kind);
        $sidecar = new Sidecar($address);
        $client->assignSlot(self::eightHours(), 7);
        $sidecar->process->end(SIGKILL);
        $sidecar = new Sidecar($address);
        self::assertGreaterThanOrEqual(0, $client->assignSlot(self::eightHours(), 7)->slotIndex);
    }

    /** @dataProvider transports */
    public function testUnixSocketsWork(string $kind): void
    {
        $path = sys_get_temp_dir() . '/offbeat-' . getmypid() . "-$kind.sock";
        $sidecar = new Sidecar("unix:$path");
        foreach (["unix:$path", "unix://$path"] as $address) {
            $client = new Client($address, transport: $kind);
            self::assertGreaterThanOrEqual(0, $client->assignSlot(self::eightHours(), 'acme')->slotIndex);
            $client->close();
            self::assertGreaterThanOrEqual(0, $client->assignSlot(self::eightHours(), 'acme')->slotIndex);
            self::assertCount(9_000, $client->assignSlots(self::eightHours(), range(1, 9_000)));
        }
        $client->close();
        self::assertSame(0, $sidecar->process->end());
    }

    /** Without ext-grpc: if version 1.51 is merely loaded, forked children hang when they exit. */
    public function testBothSidesOfAForkMayAsk(): void
    {
        if (str_contains((string) shell_exec(escapeshellarg(PHP_BINARY) . ' -m'), 'grpc')) {
            self::markTestSkipped('php.ini loads ext-grpc');
        }
        $process = new Process([PHP_BINARY, __DIR__ . '/processes/fork.php', Sidecar::shared()->address]);
        self::assertSame(0, $process->wait(30), $process->output());
        self::assertSame("both sides\n", $process->output());
    }

    public function testProxiesOfTheEnvironmentAreNotAsked(): void
    {
        $code = 'require $argv[1]; echo (new Offbeat\Client($argv[2]))->assignSlot(new Offbeat\Schedule(period: 60), 1)->slotIndex >= 0 ? "fine" : "";';
        $nowhere = 'http://127.0.0.1:' . Sidecar::freePort();
        $environment = ['http_proxy' => $nowhere, 'all_proxy' => $nowhere, 'ALL_PROXY' => $nowhere];
        self::assertSame('fine', self::php($code, $environment, Sidecar::shared()->address));
    }

    public function testLoadingConnectsToNothing(): void
    {
        $code = 'require $argv[1]; $client = new Offbeat\Client("127.0.0.1:1"); $client->close(); echo $client->timeout;';
        self::assertSame('10', self::php($code));
    }

    public function testConfigurationByVariables(): void
    {
        $code = 'require $argv[1]; $client = new Offbeat\Client(); echo $client->address, " ", $client->timeout;';
        self::assertSame('unix:/a 2.5', self::php($code, ['OFFBEAT_ADDRESS' => 'unix:/a', 'OFFBEAT_TIMEOUT' => '2.5']));
        self::assertSame('127.0.0.1:2328 10', self::php($code));
        $code = 'require $argv[1]; try { new Offbeat\Client(); } catch (Offbeat\Exception\InvalidArgument $e) { echo $e->field; }';
        self::assertSame('OFFBEAT_TIMEOUT', self::php($code, ['OFFBEAT_TIMEOUT' => 'soon']));
    }

    /** The output of another PHP process, including warnings and deprecations. */
    private static function php(string $code, array $environment = [], string ...$arguments): string
    {
        $process = new Process(
            [PHP_BINARY, '-d', 'error_reporting=-1', '-d', 'display_errors=1', '-d', 'log_errors=0', '-r', $code, '--', __DIR__ . '/../autoload.php', ...$arguments],
            $environment,
        );
        $process->wait(30);

        return $process->output();
    }
}
