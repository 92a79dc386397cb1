<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Internal\Wire;
use Offbeat\V1;

/**
 * The answers to batches of IDs, as bytes: generated classes take microseconds for each number.
 *
 * @internal
 */
final class BatchAnswers
{
    private const MAX_PATHS = 16;
    private const REFUSED = -1;
    /** The columns of offbeat.v1.SlotAssignments, by the numbers of their fields. */
    private const COLUMNS = [
        2 => 'slot_indexes', 'slot_offset_ticks', 'cycle_offset_ticks', 'cycle_indexes', 'next_run_unix_millis', 'last_run_unix_millis',
    ];
    private const SLOT_INDEXES = 2;
    private const LAST_RUNS = 7;

    /** @param V1\AssignSlotsRequest $request all of it except the IDs */
    public static function assign(CheckedSchedule $schedule, V1\AssignSlotsRequest $request, string $ids, Moment $now): string
    {
        [$prefix, $rotation] = $schedule->ofKind($request->getKind());
        $from = SlotAnswers::moment('from_time', $request->getFromTime(), $now);
        $runs = new Runs($schedule);
        $runs->checkFrom($from, 1);
        SlotAnswers::checkLabel($request->getKind());
        $wanted = self::wanted($request);
        $column = IdColumn::ofBytes($ids);
        $placing = new Placing($schedule, $rotation);
        $offsets = [];
        for ($row = 0, $count = $column->count(); $row < $count; ++$row) {
            $id = $column->id($row);
            $offsets[] = $id === null ? null : $column->place($placing, $row, $id)?->offset;
        }
        $message = (new V1\SlotAssignments())
            ->setResolution($schedule->tick()->message())
            ->setRunKeyPrefix($prefix)
            ->setErrors($column->errors());
        $columns = '';
        foreach ($wanted as $number) {
            $values = self::column($number, $offsets, $schedule, $runs, $from->millisCeil());
            $columns .= Wire::field($number, pack($number === self::SLOT_INDEXES ? 'V*' : 'P*', ...$values));
        }
        $response = (new V1\AssignSlotsResponse())->setIdentity($schedule->identity());

        return $response->serializeToString() . Wire::field(2, $columns . $message->serializeToString());
    }

    /**
     * @param list<?int> $offsets null for a refused ID
     *
     * @return list<int>
     */
    private static function column(int $number, array $offsets, CheckedSchedule $schedule, Runs $runs, int $from): array
    {
        $length = $schedule->slotTicks;
        $next = static fn (int $offset): int => $runs->cycleFrom($offset, $from);
        $value = match (self::COLUMNS[$number]) {
            'slot_indexes' => static fn (int $offset): int => intdiv($offset, $length),
            'slot_offset_ticks' => static fn (int $offset): int => $offset % $length,
            'cycle_offset_ticks' => static fn (int $offset): int => $offset,
            'cycle_indexes' => $next,
            'next_run_unix_millis' => static fn (int $offset): int => $runs->millis($offset, $next($offset)),
            'last_run_unix_millis' => static fn (int $offset): int => $runs->millis($offset, $next($offset) - 1),
        };

        return array_map(static fn (?int $offset): int => $offset === null ? self::REFUSED : $value($offset), $offsets);
    }

    /** @return list<int> the numbers of the columns to return; by default all except that of the last runs */
    private static function wanted(V1\AssignSlotsRequest $request): array
    {
        $paths = iterator_to_array($request->getReadMask()?->getPaths() ?? [], false);
        if (count($paths) > self::MAX_PATHS) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, 'read_mask.paths', count($paths) . ' paths', 'must be 0 to 16 paths');
        }
        $numbers = [];
        foreach ($paths as $place => $path) {
            $number = array_search($path, self::COLUMNS, true);
            if ($number === false) {
                $last = array_slice(self::COLUMNS, -1)[0];
                $allowed = 'must be ' . implode(', ', array_slice(self::COLUMNS, 0, -1)) . " or $last";
                throw Refusal::of(Refusal::MALFORMED, "read_mask.paths[$place]", '"' . Refusal::shortened($path) . '"', $allowed);
            }
            $numbers[$number] = $number;
        }
        ksort($numbers);

        return $paths === [] ? array_values(array_diff(array_keys(self::COLUMNS), [self::LAST_RUNS])) : array_values($numbers);
    }
}
