<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use Google\Protobuf\Internal\Message;
use Offbeat\Columns;
use Offbeat\Exception\InvalidArgument;
use Offbeat\IdType;
use Offbeat\KindSpacing;
use Offbeat\Placement;
use Offbeat\Profile;
use Offbeat\Schedule;
use Offbeat\Times;
use Offbeat\V1;

/** Decisions against golden answers, and against what PHP itself computes. */
final class DecisionsTest extends OffbeatTestCase
{
    private const UUID = '0190d7a2-1111-7abc-8def-0123456789ab';

    /** @dataProvider transports */
    public function testGoldenAnswers(string $kind): void
    {
        $cases = self::decisions('response');
        self::assertGreaterThan(250, count($cases));
        foreach ($cases as $golden) {
            ['method' => $method, 'request' => $request] = $golden;
            $question = self::message("{$method}Request", $request);
            $bytes = self::transport($kind, Sidecar::shared()->address)
                ->call(self::path($method), $question->serializeToString(), 10.0);
            $response = self::message("{$method}Response", []);
            $response->mergeFromString($bytes);
            foreach (['BucketShare', 'SlotLoad', 'SecondLoad'] as $estimate) { // to differ in the last digit
                if (method_exists($response, "clear$estimate")) {
                    $response->{"clear$estimate"}();
                }
            }
            $expected = self::message("{$method}Response", $golden['response']);
            $name = json_encode($request);
            self::assertSame($expected->serializeToJsonString(), $response->serializeToJsonString(), $name);
            self::assertSame($expected->serializeToString(), $response->serializeToString(), $name);
            if ($response instanceof V1\AssignSlotsResponse) {
                self::assertColumns($expected->getAssignments(), $bytes);
            }
        }
    }

    /** @dataProvider transports */
    public function testRefusalsBecomeExceptions(string $kind): void
    {
        // What only JSON can say wrong, messages cannot.
        $refused = array_filter(self::decisions('reason'), static fn (array $case): bool => !($case['json_only'] ?? false));
        self::assertGreaterThan(90, count($refused));
        $transport = self::transport($kind, Sidecar::shared()->address);
        foreach ($refused as $refusal) {
            $bytes = self::message("{$refusal['method']}Request", self::filled($refusal))->serializeToString();
            $thrown = self::thrown(
                InvalidArgument::class,
                static fn () => $transport->call(self::path($refusal['method']), $bytes, 10.0),
                $refusal['name'],
            );
            self::assertSame("ERROR_REASON_{$refusal['reason']}", $thrown->reason, $refusal['name']);
            self::assertSame($refusal['field'], $thrown->field, $refusal['name']);
            self::assertSame($refusal['value'] ?? $thrown->value, $thrown->value, $refusal['name']);
            foreach ($refusal['allowed'] ?? [] as $words) {
                self::assertStringContainsString($words, $thrown->allowed, $refusal['name']);
            }
        }
    }

    /**
     * The cases of all files that have a field: "response", or "reason" of a refusal.
     *
     * @return list<array<string, mixed>>
     */
    private static function decisions(string $field): array
    {
        $files = glob(self::VECTORS . '/decisions/*.json');
        self::assertGreaterThanOrEqual(4, count($files));
        $cases = array_merge(...array_map(static fn (string $file): array => self::vectors('decisions/' . basename($file)), $files));

        return array_values(array_filter($cases, static fn (array $case): bool => isset($case[$field])));
    }

    /** The request, with what is too long to write out. */
    private static function filled(array $case): array
    {
        $request = $case['request'];
        foreach (['fill_text', 'fill_list'] as $fill) {
            if (isset($case[$fill])) {
                $place = &$request;
                foreach ($case[$fill]['path'] as $name) {
                    $place = &$place[$name];
                }
                $length = $case[$fill]['length'];
                $place = $fill === 'fill_text' ? str_repeat('x', $length) : array_fill(0, $length, $case[$fill]['element']);
                unset($place);
            }
        }

        return $request;
    }

    public function testHashEqualsMd5(): void
    {
        $ids = array_map(static fn (int $number): string => "tenant $number ✓", range(1, 500));
        $schedule = new Schedule(period: 86_400, slotCount: 96, salt: 'é');
        foreach (self::client()->assignSlots($schedule, $ids, fromTime: self::noon()) as $row) {
            self::assertSame(self::scaled("é$row->id", 96), $row->slotIndex);
            self::assertSame(self::scaled("é$row->id", 86_400), Times::seconds($row->cycleOffset));
            self::assertSame(Times::seconds($row->cycleOffset) - $row->slotIndex * 900, Times::seconds($row->slotOffset));
        }
    }

    public function testTwisterEqualsThisVeryInterpreter(): void
    {
        $schedule = new Schedule(period: 8 * 3600, slotCount: 15, placement: Placement::Twister, profile: Profile::Php);
        $seeds = [0, -1, PHP_INT_MIN, PHP_INT_MAX];
        for ($i = 0; $i < 2_000; ++$i) {
            $seeds[] = random_int(PHP_INT_MIN, PHP_INT_MAX) >> [0, 30, 32, 56][$i % 4];
        }
        foreach (self::client()->assignSlots($schedule, $seeds, fromTime: self::noon()) as $row) {
            mt_srand($row->id & 0xffffffff);
            self::assertSame(mt_rand(0, 1_919), Times::seconds($row->slotOffset), (string) $row->id);
            self::assertSame(intdiv(($row->id & 255) * 15, 256), $row->slotIndex);
        }
    }

    /** @requires extension gmp */
    public function testBigIntegersAreGmpOrDecimals(): void
    {
        $client = self::client();
        $big = gmp_sub(gmp_pow(2, 128), 1);
        $decimal = gmp_strval($big);
        $rows = $client->assignSlots(self::eightHours(), [$big, gmp_neg($big), gmp_init(7), 8], fromTime: self::noon());
        $same = $client->assignSlots(
            self::eightHours(),
            [$decimal, "-$decimal", '7', '8'],
            fromTime: self::noon(),
            idType: IdType::Integer,
        );
        self::assertSame($same->cycleOffsetTicks, $rows->cycleOffsetTicks);
        self::assertStringEndsWith("/$decimal", $rows->runKey(0));
        self::assertSame($rows->runKey(2), $client->assignSlot(self::eightHours(), gmp_init(7), fromTime: self::noon())->nextRun()->runKey);
        self::assertSame($rows->runKey(0), $client->assignSlot(self::eightHours(), $big, fromTime: self::noon())->nextRun()->runKey);
        $huge = gmp_pow(2, 2_000);
        self::thrown(InvalidArgument::class, static fn () => $client->assignSlot(self::eightHours(), $huge));
    }

    /** @dataProvider transports */
    public function testOneIdIsAssignedAsInABatch(string $kind): void
    {
        $client = self::client($kind);
        $schedule = new Schedule(period: 28_800, resolution: 0.01, anchorTime: self::noon());
        foreach (['0190D7A2-1111-7abc-8def-0123456789ab', 42, -42, PHP_INT_MIN, 'acme', ''] as $id) {
            $one = $client->assignSlot($schedule, $id, fromTime: self::noon(), nextRunCount: 3, kind: 'sync');
            $row = $client->assignSlots($schedule, [$id], fromTime: self::noon(), kind: 'sync')[0];
            self::assertSame($one->slotIndex, $row->slotIndex);
            self::assertEquals([$one->slotOffset, $one->cycleOffset], [$row->slotOffset, $row->cycleOffset]);
            self::assertEquals($one->nextRun()->startTime, $row->nextRunTime);
            self::assertSame($one->nextRun()->runKey, $row->runKey);
            self::assertSame("$one->fingerprint/sync/0/0/" . strtolower((string) $id), $row->runKey);
            self::assertEquals(self::noon()->add($row->cycleOffset), $row->nextRunTime);
            self::assertSame([0, 1, 2], array_column($one->nextRuns, 'cycleIndex'));
            self::assertSame(-1, $one->lastRun->cycleIndex);
        }
    }

    public function testStringsAreWhatTheIdTypeSays(): void
    {
        $client = self::client();
        $bare = str_replace('-', '', self::UUID);
        $key = static fn (mixed $id, ?IdType $type = null): string => $client
            ->assignSlot(self::eightHours(), $id, fromTime: self::noon(), idType: $type)->nextRun()->runKey;
        $row = static fn (mixed $id, ?IdType $type = null): string => $client
            ->assignSlots(self::eightHours(), [$id], fromTime: self::noon(), idType: $type)->runKey(0);
        self::assertSame($key(self::UUID), $key($bare, IdType::Uuid));
        self::assertSame($key(self::UUID), $row($bare, IdType::Uuid));
        self::assertSame($key(self::UUID), $row(strtoupper(self::UUID)));
        self::assertNotSame($key(self::UUID), $key($bare));
        self::assertStringEndsWith("/$bare", $key($bare));
        self::assertSame($key(-7), $row('-7', IdType::Integer));
        $stringable = new class(self::UUID) implements \Stringable {
            public function __construct(private readonly string $text)
            {
            }

            public function __toString(): string
            {
                return $this->text;
            }
        };
        self::assertSame($key(self::UUID), $key($stringable));
        self::assertSame($key(self::UUID), $row($stringable));
        // As text it is hashed by the same letters.
        self::assertSame($key(self::UUID), $key(self::UUID, IdType::Text));
        self::assertNotSame($key(strtoupper(self::UUID)), $key(strtoupper(self::UUID), IdType::Text));
    }

    public function testFractionsHavePlacesAndNoRunKey(): void
    {
        $schedule = new Schedule(period: 86_400, placement: Placement::Fraction);
        $rows = self::client()->assignSlots($schedule, [0.2, 0.45, 0.77, 0.84], fromTime: self::noon());
        self::assertSame([17_280, 38_880, 66_528, 72_576], $rows->cycleOffsetTicks);
        self::assertSame('', $rows->runKey(0));
        $one = self::client()->assignSlot($schedule, 0.45, fromTime: self::noon());
        self::assertSame([0.45, 38_880, ''], [$one->reason, Times::seconds($one->cycleOffset), $one->nextRun()->runKey]);
    }

    public function testKindsOnShiftedSchedulesNeverMeet(): void
    {
        $client = self::client();
        $base = new Schedule(period: 28_800, slotCount: 8, anchorTime: self::noon());
        $placed = $client->reciprocalSlots($base, kindCount: 3);
        self::assertSame([0, 2, 5], array_column($placed->kinds, 'userSlotIndex'));
        self::assertSame([0, 6, 3], array_column($placed->kinds, 'timeSlotIndex'));
        $runs = array_map(static fn ($kind): array => array_map(
            static fn ($row): int => $row->nextRunTime->getTimestamp() % 28_800,
            iterator_to_array($client->assignSlots($base->shifted($kind->offset), range(0, 200), fromTime: self::noon())),
        ), $placed->kinds);
        foreach (array_map(null, ...$runs) as $around) {
            sort($around);
            $gaps = [$around[1] - $around[0], $around[2] - $around[1], $around[0] + 28_800 - $around[2]];
            self::assertSame(Times::seconds($placed->gap), min($gaps));
        }
        $stable = $client->reciprocalSlots($base, kindCount: 3, spacing: KindSpacing::Stable);
        self::assertSame([0, 4, 2], array_column($stable->kinds, 'userSlotIndex'));
        $timed = $client->reciprocalSlots($base, runTimes: [new DateInterval('PT1H'), 7_200.0]);
        self::assertCount(2, $timed->kinds);
    }

    public function testDescriptionsAndLists(): void
    {
        $schedule = new Schedule(period: new DateInterval('PT8H'), slotCount: 4);
        $described = self::client()->describeSchedule($schedule, atTime: self::noon(), population: 1_000);
        self::assertSame(hash('sha256', $described->canonicalText), $described->fingerprint);
        self::assertSame([7_200, 250.0, 2], [Times::seconds($described->slotDuration), $described->slotLoad->mean, $described->slot->slotIndex]);
        self::assertNull($described->bucketShare);
        $slots = self::client()->listSlots($schedule, self::noon(), self::noon()->modify('+8 hours'));
        self::assertSame([2, 3, 0, 1], array_column($slots, 'slotIndex'));
        self::assertEquals($described->slot, $slots[0]);
        $twister = self::client()->describeSchedule(new Schedule(period: 28_800, slotCount: 15, placement: Placement::Twister));
        self::assertSame([17, 18], [$twister->bucketShare->minBucketCount, $twister->bucketShare->maxBucketCount]);
    }

    public function testAnyNumberOfIdsOfAnyLength(): void
    {
        $ids = [];
        for ($number = 0; $number < 70_000; ++$number) {
            $ids[] = $number . str_repeat('x', $number % 900);
        }
        $rows = self::client()->assignSlots(self::eightHours(), $ids, fromTime: self::noon());
        self::assertSame($ids, $rows->ids);
        self::assertCount(70_000, $rows);
        foreach ([0, 65_535, 65_536, 69_999] as $index) {
            self::assertSame(self::scaled($ids[$index], 28_800), $rows->cycleOffsetTicks[$index]);
        }
    }

    public function testStreamsAreLazy(): void
    {
        $made = 0;
        $ids = (static function () use (&$made): \Generator {
            for (;;) {
                yield ++$made;
            }
        })();
        $answers = self::client()->streamSlotAssignments(self::eightHours(), $ids, fromTime: self::noon());
        self::assertSame(0, $made);
        $first = $answers->current();
        $answers->next();
        $second = $answers->current();
        self::assertLessThan(100_000, $made);
        self::assertSame([1, 8_193], [$first->ids[0], $second->ids[0]]);
        self::assertSame(8_192, $second->firstIdIndex);
    }

    public function testAnswersAreReadOnlyAndCountable(): void
    {
        $rows = self::client()->assignSlots(self::eightHours(), ['a', 'b'], fromTime: new \DateTime('1955-11-12T22:04:00.25Z'));
        self::assertCount(2, $rows);
        self::assertTrue(isset($rows[1]));
        self::assertFalse(isset($rows[2]));
        self::assertSame('b', $rows[1]->id);
        self::assertSame(['a', 'b'], array_column(iterator_to_array($rows), 'id'));
        self::assertLessThan(0, $rows[0]->nextRunTime->getTimestamp());
        self::thrown(\OutOfBoundsException::class, static fn () => $rows[2]);
        self::thrown(\LogicException::class, static function () use ($rows): void {
            $rows[0] = null;
        });
        self::thrown(\LogicException::class, static function () use ($rows): void {
            unset($rows[0]);
        });
        self::assertCount(0, self::client()->assignSlots(self::eightHours(), []));
    }

    /** libcurl 7.88 waits for a timer where an answer does not fit into its buffer. */
    public function testMiddlingBatchesDoNotStall(): void
    {
        $client = self::client();
        $started = microtime(true);
        for ($i = 0; $i < 40; ++$i) {
            $client->assignSlots(self::eightHours(), range(1, 7_000), fromTime: self::noon());
        }
        self::assertLessThan(4.0, microtime(true) - $started);
    }

    private static function assertColumns(V1\SlotAssignments $expected, string $bytes): void
    {
        $ids = array_fill(0, count($expected->getSlotIndexes()), 'x');
        $columns = Columns::read($bytes, $ids, 0, false);
        $list = static fn (iterable $values): array => array_map(intval(...), iterator_to_array($values, false));
        self::assertSame($list($expected->getSlotIndexes()), $columns->slotIndexes);
        self::assertSame($list($expected->getSlotOffsetTicks()), $columns->slotOffsetTicks);
        self::assertSame($list($expected->getCycleOffsetTicks()), $columns->cycleOffsetTicks);
        self::assertSame($list($expected->getCycleIndexes()), $columns->cycleIndexes);
        self::assertSame($list($expected->getNextRunUnixMillis()), $columns->nextRunUnixMillis);
        self::assertCount(count($expected->getErrors()), $columns->errors);
    }

    /** A method with its service. */
    private static function path(string $method): string
    {
        return match ($method) {
            'AllocateWorkers', 'NextStage' => "StageService/$method",
            'RouteJob', 'DispatchJobs', 'SplitWorkers', 'PlanLanes' => "LaneService/$method",
            default => "SlotService/$method",
        };
    }

    /** A message of offbeat.v1 from canonical JSON. */
    private static function message(string $name, array $json): Message
    {
        // The runtime 3.21 takes the ".146" of an instant for 146 nanoseconds: give it all nine digits.
        array_walk_recursive($json, static function (mixed &$value): void {
            if (is_string($value) && preg_match('/^(\d{4}-\d\d-\d\dT[\d:]{8})\.(\d{1,9})(Z|[+-][\d:]+)$/D', $value, $found)) {
                $value = $found[1] . '.' . str_pad($found[2], 9, '0') . $found[3];
            }
        });
        $class = "Offbeat\\V1\\$name";
        $message = new $class();
        $message->mergeFromJsonString(json_encode((object) $json, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION));

        return $message;
    }

    /** h·n / 2^64, for the first 8 bytes h of an MD5: by halves, since PHP's integers have 63 bits. */
    private static function scaled(string $text, int $size): int
    {
        ['high' => $high, 'low' => $low] = unpack('Nhigh/Nlow', md5($text, true));

        return ($high * $size + ($low * $size >> 32)) >> 32;
    }
}
