<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Exception\InvalidArgument;
use Offbeat\IdType;

/**
 * The IDs of one call, cut on demand into batches that fit into messages, with the values that go with each ID.
 *
 * @implements \IteratorAggregate<int, Batch>
 *
 * @internal
 */
final class Batches implements \IteratorAggregate
{
    private const NUMBER_BYTES = 8;
    private const TIME_ZONES = 'time_zones';

    /** @var array<string, \Generator<int, mixed>> */
    private readonly array $along;

    /**
     * @param iterable<mixed> $ids
     * @param array<string, ?iterable<mixed>> $along values for each ID, by the names of their fields; null for none
     * @param ?iterable<mixed> $timeZones the time zone that each ID lives in
     */
    public function __construct(
        private readonly iterable $ids,
        private readonly ?IdType $idType,
        array $along = [],
        ?iterable $timeZones = null,
        private readonly int $size = IdEncoder::BATCH_IDS,
    ) {
        $values = static function (iterable $values): \Generator {
            foreach ($values as $value) {
                yield $value;
            }
        };
        $along[self::TIME_ZONES] = $timeZones;
        $this->along = array_map($values, array_filter($along, static fn (?iterable $given): bool => $given !== null));
    }

    /** @return \Generator<int, Batch> */
    public function getIterator(): \Generator
    {
        $encoder = new IdEncoder($this->idType);
        $first = 0;
        foreach (IdEncoder::batches($this->ids, $this->size, self::NUMBER_BYTES * count($this->along)) as $ids) {
            $along = [];
            foreach ($this->along as $field => $values) {
                $along[$field] = self::next($field, $values, $first, count($ids));
            }
            $timeZones = $along[self::TIME_ZONES] ?? [];
            unset($along[self::TIME_ZONES]);
            yield new Batch($encoder, $first, $encoder->take($ids), $along, $timeZones);
            $first += count($ids);
        }
        foreach ($this->along as $field => $values) {
            if ($values->valid()) {
                throw self::uneven($field, 'more');
            }
        }
    }

    /**
     * The batches with their answers, in order. A batch that is too large for the sidecar is halved.
     *
     * @template T
     *
     * @param \Closure(Batch): T $ask
     *
     * @return \Generator<int, array{Batch, T}>
     */
    public function answered(\Closure $ask): \Generator
    {
        foreach ($this as $batch) {
            $waiting = [$batch];
            while (($batch = array_shift($waiting)) !== null) {
                try {
                    $answer = $ask($batch);
                } catch (InvalidArgument $refused) {
                    if (!$batch->isTooLarge($refused)) {
                        throw $batch->located($refused);
                    }
                    array_unshift($waiting, ...$batch->halves());
                    continue;
                }
                yield [$batch, $answer];
            }
        }
    }

    /**
     * @param \Generator<int, mixed> $values
     *
     * @return list<int|string|null>
     */
    private static function next(string $field, \Generator $values, int $first, int $count): array
    {
        $next = [];
        for ($place = $first; $place < $first + $count; ++$place) {
            if (!$values->valid()) {
                throw self::uneven($field, (string) $place);
            }
            $next[] = $field === self::TIME_ZONES
                ? self::timeZone("{$field}[$place]", $values->current())
                : self::number("{$field}[$place]", $values->current());
            $values->next();
        }

        return $next;
    }

    private static function number(string $field, mixed $value): int
    {
        if ($value instanceof \DateTimeInterface) {
            // Rounded up. Runs start on whole milliseconds, so that none lies between an instant and its rounding.
            $value = $value->getTimestamp() * 1_000 + (int) ceil($value->format('u') / 1_000);
        }

        return is_int($value) ? $value : throw InvalidArgument::refused($field, $value, 'must be an integer');
    }

    /** Null stands for the zone of the schedule. */
    private static function timeZone(string $field, mixed $value): ?string
    {
        return $value === null ? null : Check::timeZone($field, $value);
    }

    private static function uneven(string $field, string $count): InvalidArgument
    {
        return InvalidArgument::refused($field, $count, 'must be one for each ID', 'ERROR_REASON_CONTRADICTORY');
    }
}
