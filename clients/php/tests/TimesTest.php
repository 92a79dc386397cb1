<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use DateInterval;
use DateTimeImmutable;
use Offbeat\AssignmentColumn;
use Offbeat\Exception\InvalidArgument;
use Offbeat\IdType;
use Offbeat\Internal\Columns;
use Offbeat\Internal\IdEncoder;
use Offbeat\Internal\Wire;
use Offbeat\Kind;
use Offbeat\Schedule;
use Offbeat\Times;
use Offbeat\V1;

/** Spans, instants and bytes survive the round trip. */
final class TimesTest extends OffbeatTestCase
{
    public function testFloatsAreWhatWasWritten(): void
    {
        foreach ([
            [0.001, 0, 1_000_000],
            [0.1, 0, 100_000_000],
            [28_800.001, 28_800, 1_000_000],
            [316_224_000.001, 316_224_000, 1_000_000],
            [-316_224_000.001, -316_224_000, -1_000_000],
            [0.1 + 0.2, 0, 300_000_000],
            [1 / 3, 0, 333_333_333],
            [0.9999999999, 1, 0],
            [1e-9, 0, 1],
            [1e-10, 0, 0],
            [28_800.0, 28_800, 0],
            [-0.5, 0, -500_000_000],
            [1e11, 100_000_000_000, 0],
        ] as [$float, $seconds, $nanos]) {
            self::assertSame([$seconds, $nanos], Times::parts('span', $float), (string) $float);
        }
        foreach ([NAN, INF, -INF, 1e12] as $bad) {
            self::thrown(InvalidArgument::class, static fn () => Times::parts('span', $bad));
        }
    }

    public function testIntervalsOfFixedLengthAreSeconds(): void
    {
        $half = new DateInterval('PT1S');
        $half->f = 0.5;
        $backwards = clone $half;
        $backwards->invert = 1;
        $mixed = new DateInterval('PT1S');
        $mixed->f = -0.25;
        $from = new DateTimeImmutable('2026-01-01T00:00:00.25Z');
        foreach ([
            [new DateInterval('PT8H'), 28_800],
            [new DateInterval('P1W'), 604_800],
            [new DateInterval('P1DT1M1S'), 86_461],
            [$half, 1.5],
            [$backwards, -1.5],
            [$mixed, 0.75],
            [$from->diff(new DateTimeImmutable('2026-03-01T00:00:00Z')), 5_097_599.75],
            [$from->diff(new DateTimeImmutable('2025-12-31T23:59:59Z')), -1.25],
            [DateInterval::createFromDateString('90 seconds'), 90],
            [DateInterval::createFromDateString('-2 hours'), -7_200],
        ] as [$interval, $seconds]) {
            self::assertSame($seconds, Times::seconds($interval));
            [$whole, $nanos] = Times::parts('span', $interval);
            self::assertGreaterThanOrEqual(0, $whole * $nanos, 'one sign');
        }
    }

    public function testIntervalsWithoutALengthAreRefused(): void
    {
        $intervals = [
            new DateInterval('P1M'),
            new DateInterval('P4Y'),
            DateInterval::createFromDateString('3 weekdays'),
            DateInterval::createFromDateString('tuesday'),
            DateInterval::createFromDateString('wednesday'),
            DateInterval::createFromDateString('last day of next month'),
        ];
        foreach ($intervals as $interval) {
            $thrown = self::thrown(InvalidArgument::class, static fn () => Times::seconds($interval));
            self::assertSame('span', $thrown->field);
        }
    }

    public function testSpansAndInstantsComeBack(): void
    {
        foreach ([[0, 0], [28_800, 0], [5, 250_000_000], [-5, -250_000_000], [0, -1_000_000], [316_224_000, 1_000]] as [$seconds, $nanos]) {
            $span = Times::interval($seconds, $nanos);
            self::assertSame([$seconds, $nanos], Times::parts('span', $span));
            $start = self::noon();
            self::assertEquals(Times::shifted('span', $start, $span), $start->add($span));
        }
        foreach (['2026-03-01T12:00:00.000000', '1969-12-31T23:59:59.999999', '0001-01-01T00:00:00.000001', '9999-12-31T23:59:59.5'] as $text) {
            $instant = new DateTimeImmutable("$text+00:00");
            self::assertEquals($instant, Times::fromTimestamp(Times::toTimestamp($instant)));
            self::assertEquals($instant, Times::fromTimestamp(Times::toTimestamp($instant->setTimezone(new \DateTimeZone('Asia/Kathmandu')))));
        }
    }

    public function testSchedulesKeepWhatTheyWereGiven(): void
    {
        $anchor = new \DateTime('1969-12-31T23:59:59.75Z');
        $span = new DateInterval('PT1H');
        $schedule = new Schedule(period: $span, anchorTime: $anchor, kinds: ['b' => new Kind('import', $span)], catchUpSpan: $span);
        $anchor->modify('+1 year'); // the caller may change its own object
        $span->h = 2;
        self::assertSame('1969-12-31T23:59:59.750000', $schedule->anchorTime->format('Y-m-d\TH:i:s.u'));
        self::assertSame([1, 1, 1], [$schedule->period->h, $schedule->catchUpSpan->h, $schedule->kinds[0]->runTime->h]);
    }

    public function testColumnsAreMessages(): void
    {
        $uuid = '0190d7a2-1111-7abc-8def-0123456789ab';
        foreach ([
            [[1, -1, PHP_INT_MIN, PHP_INT_MAX], null, 'integers'],
            [['a', '', str_repeat('ü', 100), str_repeat('x', 20_000)], null, 'texts'],
            [['a', 'oops'], IdType::Uuid, 'uuids'],
            [['1', '-2'], IdType::Integer, 'decimals'],
            [[0.0, 0.25, 1 / 3], null, 'fractions'],
        ] as [$ids, $type, $field]) {
            $message = self::column($ids, $type);
            $held = iterator_to_array($message->{'get' . ucfirst($field)}(), false);
            self::assertSame($ids, is_int($ids[0]) ? array_map(intval(...), $held) : $held, $field);
            $other = (new V1\IdBatch())->{'set' . ucfirst($field)}($ids);
            self::assertSame($other->serializeToString(), $message->serializeToString(), $field);
        }
        $message = self::column([$uuid, strtoupper($uuid)], null);
        self::assertSame(str_repeat(hex2bin(str_replace('-', '', $uuid)), 2), $message->getPackedUuids());
        $message = self::column([str_replace('-', '', $uuid)], IdType::Uuid);
        self::assertSame(16, strlen($message->getPackedUuids()));
    }

    public function testBytesThatAreNoMessageAreNamed(): void
    {
        self::assertSame([1 => [150], 2 => ['testing', '']], Wire::fields("\x08\x96\x01\x12\x07testing\x12\x00"));
        self::assertSame([1 => [-1], 3 => [2], 4 => [3]], Wire::fields("\x08" . str_repeat("\xff", 9) . "\x01\x19\x02" . str_repeat("\0", 7) . "\x25\x03\0\0\0"));
        self::assertSame([2 => [str_repeat('x', 300)]], Wire::fields(Wire::field(2, str_repeat('x', 300))));
        foreach (["\x08", "\x12\x05abc", "\x12" . str_repeat("\xff", 9) . "\x01", "\x0b", "\x08" . str_repeat("\xff", 11), "\x19\0\0", "\x0f"] as $bad) {
            self::thrown(\UnexpectedValueException::class, static fn () => Wire::fields($bad));
        }
    }

    public function testFieldsAreTakenOutOfMessages(): void
    {
        $message = "\x08\x96\x01" . Wire::field(2, 'ab') . Wire::field(3, 'other') . "\x19\x02" . str_repeat("\0", 7) . Wire::field(2, 'cd');
        [$taken, $rest] = Wire::taken($message, [2, 5]);
        self::assertSame([2 => 'abcd', 5 => ''], $taken);
        self::assertSame("\x08\x96\x01" . Wire::field(3, 'other') . "\x19\x02" . str_repeat("\0", 7), $rest);
        self::thrown(\UnexpectedValueException::class, static fn () => Wire::taken("\x12\x05abc", [2]));
    }

    public function testColumnsThatDoNotFitAreRefused(): void
    {
        $row = ['slot_indexes' => [1], 'slot_offset_ticks' => [2], 'cycle_offset_ticks' => [3], 'cycle_indexes' => [4], 'next_run_unix_millis' => [5]];
        $answer = static fn (array $columns): string => (new V1\AssignSlotsResponse())
            ->setIdentity(new V1\ScheduleIdentity())
            ->setAssignments(new V1\SlotAssignments($columns + ['resolution' => new \Google\Protobuf\Duration(['seconds' => 1])]))
            ->serializeToString();
        self::assertSame([1], Columns::assignments($answer($row), ['a'], 0, false)->slotIndexes);
        $slots = [AssignmentColumn::SlotIndexes];
        self::assertSame([1], Columns::assignments($answer(['slot_indexes' => [1]]), ['a'], 0, false, $slots)->slotIndexes);
        self::thrown(\UnexpectedValueException::class, static fn () => Columns::assignments($answer($row), ['a'], 0, false, $slots));
        foreach ([
            [$row, []],
            [['slot_indexes' => [1]], ['a']],
            [$row, ['a', 'b']],
            [['slot_indexes' => [1, 1]] + $row, ['a']],
            [$row + ['id_indexes' => [1], 'piece_indexes' => [0]], ['a']],
            [$row + ['id_indexes' => [0], 'piece_indexes' => [0, 1]], ['a']],
            [$row + ['id_indexes' => [0, 0], 'piece_indexes' => [0, 1]], ['a']],
        ] as [$columns, $ids]) {
            self::thrown(\UnexpectedValueException::class, static fn () => Columns::assignments($answer($columns), $ids, 0, false));
        }
    }

    private static function column(array $ids, ?IdType $type): V1\IdBatch
    {
        $encoder = new IdEncoder($type);
        $message = new V1\IdBatch();
        $message->mergeFromString($encoder->column($encoder->take($ids)));

        return $message;
    }
}
