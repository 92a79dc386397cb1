<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Google\Protobuf\Internal\Message;
use Offbeat\AssignmentColumn;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NeedsSidecar;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\Columns;
use Offbeat\Internal\Json;
use Offbeat\Internal\Local\Decider;
use Offbeat\Mode;
use Offbeat\V1;

/** Decisions against golden answers, of all files and all methods. */
final class GoldenDecisionsTest extends OffbeatTestCase
{
    /** @dataProvider transports */
    public function testGoldenAnswers(string $kind): void
    {
        $cases = self::decisions('response');
        self::assertGreaterThan(250, count($cases));
        $transport = self::transport($kind, Sidecar::shared()->address);
        foreach ($cases as $golden) {
            ['method' => $method, 'request' => $request] = $golden;
            $question = self::message("{$method}Request", $request);
            $bytes = $transport->call(self::path($method), $question->serializeToString(), 10.0);
            $response = self::message("{$method}Response", []);
            $response->mergeFromString($bytes);
            foreach (['BucketShare', 'SlotLoad', 'SecondLoad'] as $estimate) { // floats may differ in the last digit
                if (method_exists($response, "clear$estimate")) {
                    $response->{"clear$estimate"}();
                }
            }
            if ($response instanceof V1\CompareSchedulesResponse) { // its wording is not golden
                foreach ($response->getPairs() as $pair) {
                    $pair->setMessage('');
                }
            }
            $expected = self::message("{$method}Response", $golden['response']);
            self::assertAnswer($expected, $response, json_encode($request));
            self::assertColumns($expected, $bytes, self::idCount($question), self::wanted($question));
        }
    }

    /** @dataProvider transports */
    public function testRefusalsBecomeExceptions(string $kind): void
    {
        // Some mistakes exist only in JSON; and version 3.21 of the runtime loses the sign of
        // "-0.001s".
        $refused = array_filter(
            self::decisions('reason'),
            static fn (array $case): bool => !($case['json_only'] ?? false) && !str_contains(json_encode($case['request']), '"-0.'),
        );
        self::assertGreaterThan(90, count($refused));
        $transport = self::transport($kind, Sidecar::shared()->address);
        foreach ($refused as $refusal) {
            $bytes = self::message("{$refusal['method']}Request", self::filled($refusal))->serializeToString();
            $thrown = self::thrown(
                $refusal['reason'] === 'UNKNOWN_SCHEDULE' ? NotFound::class : InvalidArgument::class,
                static fn () => $transport->call(self::path($refusal['method']), $bytes, 10.0),
                $refusal['name'],
            );
            self::assertRefusal($refusal, $thrown);
        }
    }

    /** Golden answers by the client alone, which reports what it cannot decide. */
    public function testLocalDecisions(): void
    {
        $answered = $sidecar = [];
        foreach (self::decisions('response') as $golden) {
            $method = $golden['method'];
            try {
                $response = self::decided(Mode::Local, $method, $golden['request']);
            } catch (NeedsSidecar $needs) {
                self::assertStringContainsString('need', $needs->getMessage());
                self::assertNull(self::decided(Mode::Auto, $method, $golden['request']));
                $sidecar[] = $method;
                continue;
            }
            $answered[$method] = ($answered[$method] ?? 0) + 1;
            if ($response instanceof V1\DescribeScheduleResponse) {
                $response->clearBucketShare(); // to differ in the last digit
            }
            $expected = self::message("{$method}Response", $golden['response']);
            self::assertSame($expected->serializeToJsonString(), $response->serializeToJsonString(), json_encode($golden['request']));
        }
        self::assertGreaterThan(310, array_sum($answered), json_encode($answered));
        foreach (['AssignSlot' => 90, 'AssignSlots' => 66, 'ListDueRuns' => 79, 'GetWindowPredicate' => 38, 'RouteJob' => 18] as $method => $count) {
            self::assertGreaterThanOrEqual($count, $answered[$method]);
        }
        self::assertGreaterThan(500, count($sidecar));
    }

    public function testLocalRefusals(): void
    {
        $refused = 0;
        foreach (self::decisions('reason') as $refusal) {
            if (($refusal['json_only'] ?? false) || str_contains(json_encode($refusal['request']), '"-0.')) {
                continue;
            }
            try {
                self::decided(Mode::Local, $refusal['method'], self::filled($refusal));
            } catch (NeedsSidecar) {
                continue;
            } catch (InvalidArgument $thrown) {
                self::assertRefusal($refusal, $thrown);
                ++$refused;
                continue;
            }
            self::fail("not refused: {$refusal['name']}");
        }
        self::assertGreaterThan(145, $refused);
    }

    /** @param array<string, mixed> $request */
    private static function decided(Mode $mode, string $method, array $request): ?Message
    {
        $decider = new Decider($mode, null, static fn (): \DateTimeInterface => self::noon());
        $question = self::message("{$method}Request", $request);
        if (!in_array($method, ['AssignSlots', 'ListDueRuns'], true)) {
            return $decider->answer(self::path($method), $question);
        }
        $bytes = $decider->batch(self::path($method), $question->serializeToString());
        $response = $bytes === null ? null : self::message("{$method}Response", []);
        $response?->mergeFromString($bytes);

        return $response;
    }

    /** @param array<string, mixed> $refusal */
    private static function assertRefusal(array $refusal, OffbeatException $thrown): void
    {
        self::assertSame("ERROR_REASON_{$refusal['reason']}", $thrown->reason, $refusal['name']);
        self::assertSame($refusal['field'], $thrown->field, $refusal['name']);
        self::assertSame($refusal['value'] ?? $thrown->value, $thrown->value, $refusal['name']);
        foreach ($refusal['allowed'] ?? [] as $words) {
            self::assertStringContainsString($words, $thrown->allowed, $refusal['name']);
        }
    }

    /**
     * The cases of all files that have a given field: "response", or "reason" for refusals.
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

    /** The request, with texts and lists filled in that are too long to write out. */
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

    /** Equal, except for the last digits of estimates. */
    private static function assertAnswer(Message $expected, Message $given, string $name): void
    {
        [$one, $other] = [$expected->serializeToJsonString(), $given->serializeToJsonString()];
        if ($one === $other) {
            self::assertSame($expected->serializeToString(), $given->serializeToString(), $name);
        } else {
            self::assertEquals(self::rounded($one), self::rounded($other), $name);
        }
    }

    private static function rounded(string $json): array
    {
        $tree = json_decode($json, true, flags: JSON_THROW_ON_ERROR);
        array_walk_recursive($tree, static function (mixed &$value): void {
            $value = is_float($value) ? sprintf('%.10e', $value) : $value;
        });

        return $tree;
    }

    /**
     * Compares the client's own reader of columns with the generated class.
     *
     * @param list<AssignmentColumn> $wanted
     */
    private static function assertColumns(Message $expected, string $bytes, int $idCount, array $wanted): void
    {
        $ids = array_fill(0, $idCount, 'x');
        [$message, $columns, $names] = match ($expected::class) {
            V1\AssignSlotsResponse::class => [$expected->getAssignments(), Columns::assignments($bytes, $ids, 0, false, $wanted), [
                'slotIndexes', 'slotOffsetTicks', 'cycleOffsetTicks', 'cycleIndexes', 'nextRunUnixMillis', 'lastRunUnixMillis', 'idIndexes',
                'pieceIndexes',
            ]],
            V1\ListDueRunsResponse::class => [$expected->getRuns(), Columns::dueRuns($bytes, $ids, 0, false), [
                'idIndexes', 'pieceIndexes', 'cycleIndexes', 'scheduledUnixMillis', 'startUnixMillis',
            ]],
            V1\PlanMigrationResponse::class => [$expected->getIds(), Columns::migration($bytes, $ids, 0, false)->ids, [
                'lastOldUnixMillis', 'lastOldCycleIndexes', 'firstNewUnixMillis', 'firstNewCycleIndexes',
            ]],
            V1\AuditIdsResponse::class => [$expected, Columns::audit($bytes), ['slotLoads']],
            default => [null, null, []],
        };
        if ($message === null) {
            return;
        }
        foreach ($names as $name) {
            $list = iterator_to_array($message->{'get' . ucfirst($name)}(), false);
            self::assertEquals($name === 'slotLoads' ? $list : array_map(intval(...), $list), $columns->$name, $name);
        }
        self::assertCount(count($message->getErrors()), $columns->errors);
        if ($expected instanceof V1\ListDueRunsResponse) {
            foreach (['lateRunCount', 'droppedRunCount', 'supersededRunCount', 'skippedRunCount'] as $name) {
                self::assertSame((int) $expected->{'get' . ucfirst($name)}(), $columns->$name, $name);
            }
            $seconds = $expected->getNextDueTime()?->getSeconds();
            self::assertSame($seconds === null ? null : (int) $seconds, $columns->nextDueTime?->getTimestamp());
        }
    }

    /** @return list<AssignmentColumn> the columns that a request selects */
    private static function wanted(Message $question): array
    {
        $mask = $question instanceof V1\AssignSlotsRequest ? $question->getReadMask() : null;

        return $mask === null
            ? AssignmentColumn::DEFAULT
            : array_map(AssignmentColumn::from(...), iterator_to_array($mask->getPaths(), false));
    }

    private static function idCount(Message $question): int
    {
        $ids = method_exists($question, 'getIds') ? $question->getIds() : null;
        if ($ids === null) {
            return 0;
        }
        $columns = [$ids->getUuids(), $ids->getIntegers(), $ids->getDecimals(), $ids->getTexts(), $ids->getFractions()];

        return intdiv(strlen($ids->getPackedUuids()), 16) + array_sum(array_map(count(...), $columns));
    }

    /** The path of a method, with its service. */
    private static function path(string $method): string
    {
        return match ($method) {
            'AllocateWorkers', 'ChooseStage' => "offbeat.v1.StageService/$method",
            'RouteJob', 'DispatchJobs', 'SplitWorkers' => "offbeat.v1.LaneService/$method",
            'PlanLanes' => "offbeat.v1beta1.LanePlanningService/$method",
            'RecordLateness' => "offbeat.v1beta1.LatenessService/$method",
            default => "offbeat.v1.SlotService/$method",
        };
    }

    /** A message from canonical JSON. */
    private static function message(string $name, array $json): Message
    {
        $class = class_exists("Offbeat\\V1\\$name") ? "Offbeat\\V1\\$name" : "Offbeat\\V1beta1\\$name";

        return Json::message(new $class(), $json);
    }
}
