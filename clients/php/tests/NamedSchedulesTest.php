<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\CatchUpPolicy;
use Offbeat\Client;
use Offbeat\ComparedJob;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;
use Offbeat\KindSpacing;
use Offbeat\Schedule;
use Offbeat\ScheduleReference;
use Offbeat\SqlColumnType;
use Offbeat\SqlDialect;
use Offbeat\SqlTarget;
use Offbeat\Times;

/** Schedules by name and version, from a file that the sidecar has loaded. */
final class NamedSchedulesTest extends OffbeatTestCase
{
    private static Sidecar $sidecar;
    private static string $file;

    public static function setUpBeforeClass(): void
    {
        self::$file = tempnam(sys_get_temp_dir(), 'offbeat-') . '.toml';
        file_put_contents(self::$file, <<<'TOML'
            [[schedule]]
            name = "bank-sync"
            version = 1
            period = "8h"
            slot_count = 96

            [[schedule]]
            name = "bank-sync"
            version = 2
            period = "12h"
            slot_count = 96
            weight_quantum = 10

            [[schedule]]
            name = "accounts"
            version = 1
            period = "8h"
            kinds = ["import", { name = "export" }]
            kind_spacing = "stable"
            catch_up_span = "30m"
            TOML);
        self::$sidecar = new Sidecar(flags: ['--schedules', self::$file]);
    }

    public static function tearDownAfterClass(): void
    {
        self::$sidecar->process->end();
        unlink(self::$file);
    }

    /** @dataProvider transports */
    public function testWhatIsLoadedIsListed(string $kind): void
    {
        $client = self::named($kind);
        $listed = $client->listSchedules();
        $versions = [new ScheduleReference('accounts', 1), new ScheduleReference('bank-sync', 1), new ScheduleReference('bank-sync', 2)];
        self::assertEquals($versions, array_column($listed, 'reference'));
        foreach ($listed as $one) {
            self::assertSame($client->describeSchedule($one->reference)->fingerprint, $one->fingerprint);
        }
        self::assertSame([96, 12], [$listed[2]->slotCount, (int) (Times::seconds($listed[2]->period) / 3600)]);
        self::assertCount(2, $client->listSchedules('bank-sync'));
        self::assertSame([], $client->listSchedules('none'));
        self::assertSame('name', self::thrown(InvalidArgument::class, static fn () => $client->listSchedules('a/b'))->field);
    }

    /** @dataProvider transports */
    public function testANameMeansWhatItsFileSays(string $kind): void
    {
        $client = self::named($kind);
        $spec = new Schedule(period: 8 * 3600, slotCount: 96);
        $name = new ScheduleReference('bank-sync', 1);
        $bySpec = $client->describeSchedule($spec, atTime: self::noon());
        $byName = $client->describeSchedule($name, atTime: self::noon());
        self::assertSame($bySpec->fingerprint, $byName->fingerprint);
        self::assertSame('bank-sync/1', $byName->runKeyRoot);
        self::assertSame($bySpec->fingerprint, $bySpec->runKeyRoot);
        self::assertEquals($client->listSlots($spec, self::noon()), $client->listSlots($name, self::noon()));

        $one = $client->assignSlot($name, 'acme', fromTime: self::noon(), kind: 'sync');
        self::assertMatchesRegularExpression('#^bank-sync/1/sync/\d+/0/acme$#D', $one->nextRun()->runKey);
        self::assertEquals($client->assignSlot($spec, 'acme', fromTime: self::noon())->slotOffset, $one->slotOffset);
        $rows = $client->assignSlots($name, ['acme'], fromTime: self::noon(), kind: 'sync');
        self::assertSame($one->nextRun()->runKey, $rows->runKey(0));
        self::assertSame($bySpec->fingerprint, $client->assignSlots($name, [])->fingerprint);
    }

    public function testNamesGoWhereverASchedulesGoes(): void
    {
        $client = self::named();
        [$one, $two] = [new ScheduleReference('bank-sync', 1), new ScheduleReference('bank-sync', 2)];
        self::assertSame([0, 48], array_column($client->reciprocalSlots($one, kindCount: 2)->kinds, 'idSlotIndex'));
        $due = $client->listDueRuns($one, ['acme'], watermark: self::noon(), nowTime: self::noon()->modify('+8 hours'), catchUpPolicy: new CatchUpPolicy(onTimeTolerance: 8 * 3600));
        self::assertStringStartsWith('bank-sync/1/default/', $due->runKey(0));
        $planned = $client->planMigration($one, $two, ids: ['acme'])->ids[0];
        self::assertStringStartsWith('bank-sync/1/default/', $planned->lastOldRun->runKey);
        self::assertStringStartsWith('bank-sync/2/default/', $planned->firstNewRun->runKey);
        self::assertSame(1, $client->auditIds($two, ['acme'], weights: [5])->idCount);
        self::assertCount(3, $client->assignSlots($two, ['acme'], weights: [25]));
        self::assertSame(1, iterator_count($client->streamSlotAssignments($one, ['acme'])));
    }

    /** @dataProvider transports */
    public function testTextIsANameAndAVersion(string $kind): void
    {
        $client = self::named($kind);
        [$one, $two] = [new ScheduleReference('bank-sync', 1), new ScheduleReference('bank-sync', 2)];
        self::assertEquals($one, ScheduleReference::parse('bank-sync/1'));
        $until = self::noon()->modify('+8 hours');
        $accounts = new SqlTarget(SqlDialect::Sqlite, 'account', 'hash', SqlColumnType::HashDigits);
        foreach ([
            static fn ($of, $other) => $client->describeSchedule($of, atTime: self::noon()),
            static fn ($of, $other) => $client->listSlots($of, self::noon()),
            static fn ($of, $other) => $client->windowPredicate($of, $accounts, startTime: self::noon(), endTime: $until),
            static fn ($of, $other) => $client->assignSlot($of, 'acme', fromTime: self::noon()),
            static fn ($of, $other) => $client->assignSlots($of, ['acme'], fromTime: self::noon()),
            static fn ($of, $other) => $client->assignSlots($of, []),
            static fn ($of, $other) => $client->assignPacked($of, integers: pack('P', 1), fromTime: self::noon()),
            static fn ($of, $other) => iterator_to_array($client->streamSlotAssignments($of, ['acme'], fromTime: self::noon())),
            static fn ($of, $other) => $client->auditIds($of, ['acme'], fromTime: self::noon()),
            static fn ($of, $other) => $client->listDueRuns($of, ['acme'], self::noon(), nowTime: $until),
            static fn ($of, $other) => $client->planMigration($of, $other, ['acme'], cutoverTime: $until),
            static fn ($of, $other) => $client->reciprocalSlots($of, kindCount: 2),
            static fn ($of, $other) => $client->compareSchedules([$of, new ComparedJob($other)]),
        ] as $which => $ask) {
            self::assertEquals($ask($one, $two), $ask('bank-sync/1', 'bank-sync/2'), "$which");
            $refused = self::thrown(InvalidArgument::class, static fn () => $ask('bank-sync', 'bank-sync/2'), "$which");
            self::assertStringEndsWith('schedule', $refused->field);
            self::assertSame('"bank-sync"', $refused->value);
        }
    }

    public function testTextThatNamesNoVersionIsRefused(): void
    {
        foreach (['', 'bank-sync', 'bank-sync/', '/1', 'bank-sync/01', 'bank-sync/-1', 'bank-sync/1/2', 'bank-sync/one', "bank-sync/1\n", 'bänk/1', '8h'] as $text) {
            $refused = self::thrown(InvalidArgument::class, static fn () => self::named()->assignSlot($text, 'acme'), $text);
            self::assertSame(['schedule', 'ERROR_REASON_MALFORMED'], [$refused->field, $refused->reason]);
            self::assertStringContainsString("'nightly/2'", $refused->allowed);
        }
        $refused = self::thrown(InvalidArgument::class, static fn () => self::named()->planMigration('bank-sync/1', 'bank-sync'));
        self::assertSame('new_schedule', $refused->field);
        $refused = self::thrown(InvalidArgument::class, static fn () => self::named()->assignSlot('bank-sync/0', 'acme'));
        self::assertSame('schedule.reference.version', $refused->field);
        self::thrown(NotFound::class, static fn () => self::named()->assignSlot('bank-sync/3', 'acme'));
    }

    public function testKindsOfAFileAreDescribed(): void
    {
        $described = self::named()->describeSchedule('accounts/1');
        self::assertSame(['import', 'export'], array_column($described->kinds, 'name'));
        $spec = new Schedule(8 * 3600, kinds: ['import', 'export'], kindSpacing: KindSpacing::Stable, catchUpSpan: 1_800);
        self::assertSame(self::named()->describeSchedule($spec)->fingerprint, $described->fingerprint);
        $run = self::named()->assignSlot('accounts/1', 'acme', kind: 'export')->nextRun();
        self::assertMatchesRegularExpression('#^accounts/1/export/\d+/0/acme$#D', $run->runKey);
    }

    public function testWhatIsNotLoadedIsNotFound(): void
    {
        $client = self::named();
        foreach ([new ScheduleReference('bank-sync', 3), new ScheduleReference('nightly', 1)] as $unknown) {
            $thrown = self::thrown(NotFound::class, static fn () => $client->assignSlot($unknown, 'acme'));
            self::assertSame('ERROR_REASON_UNKNOWN_SCHEDULE', $thrown->reason);
        }
        $thrown = self::thrown(NotFound::class, static fn () => $client->planMigration(new ScheduleReference('bank-sync', 1), $unknown));
        self::assertStringStartsWith('new_schedule', $thrown->field);
        foreach ([
            ['schedule.reference.version', new ScheduleReference('bank-sync', 2 ** 32 + 1)],
            ['schedule.reference.version', new ScheduleReference('bank-sync', 0)],
            ['schedule.reference.name', new ScheduleReference("\xff", 1)],
            ['schedule.reference.name', new ScheduleReference('bank/sync', 1)],
        ] as [$field, $bad]) {
            $thrown = self::thrown(InvalidArgument::class, static fn () => $client->assignSlot($bad, 'acme'), $field);
            self::assertSame($field, $thrown->field);
        }
    }

    private static function named(string $transport = 'auto'): Client
    {
        return new Client(self::$sidecar->address, transport: $transport);
    }
}
