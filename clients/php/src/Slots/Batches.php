<?php

declare(strict_types=1);

namespace Offbeat\Slots;

use Offbeat\Exception\InvalidArgument;
use Offbeat\IdEncoder;
use Offbeat\IdType;

/**
 * The IDs of one call, cut into batches that fit into messages, with what goes along with each ID;
 * lazily.
 *
 * @implements \IteratorAggregate<int, Batch>
 *
 * @internal
 */
final class Batches implements \IteratorAggregate
{
    private const NUMBER_BYTES = 8;

    /** @var array<string, \Generator<int, mixed>> */
    private readonly array $along;

    /**
     * @param iterable<mixed> $ids
     * @param array<string, ?iterable<mixed>> $along one for each ID, by the names of their fields; those
     *     that are null are left out
     */
    public function __construct(
        private readonly iterable $ids,
        private readonly ?IdType $idType,
        array $along = [],
        private readonly int $size = IdEncoder::BATCH_IDS,
    ) {
        $values = static function (iterable $values): \Generator {
            foreach ($values as $value) {
                yield $value;
            }
        };
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
            yield new Batch($encoder, $first, $encoder->take($ids), $along);
            $first += count($ids);
        }
        foreach ($this->along as $field => $values) {
            if ($values->valid()) {
                throw self::uneven($field, 'more');
            }
        }
    }

    /**
     * The batches with the answers to them, in order. A batch that is too large for the sidecar is
     * halved.
     *
     * @param \Closure(Batch): string $send
     *
     * @return \Generator<int, array{Batch, string}>
     */
    public function answered(\Closure $send): \Generator
    {
        foreach ($this as $batch) {
            $waiting = [$batch];
            while (($batch = array_shift($waiting)) !== null) {
                try {
                    $bytes = $send($batch);
                } catch (InvalidArgument $refused) {
                    if (!$batch->isTooLarge($refused)) {
                        throw $batch->located($refused);
                    }
                    array_unshift($waiting, ...$batch->halves());
                    continue;
                }
                yield [$batch, $bytes];
            }
        }
    }

    /**
     * @param \Generator<int, mixed> $values
     *
     * @return list<int>
     */
    private static function next(string $field, \Generator $values, int $first, int $count): array
    {
        $next = [];
        for ($place = $first; $place < $first + $count; ++$place) {
            if (!$values->valid()) {
                throw self::uneven($field, (string) $place);
            }
            $value = $values->current();
            if ($value instanceof \DateTimeInterface) {
                // No run starts within a millisecond, so that none is lost by going up.
                $value = $value->getTimestamp() * 1_000 + (int) ceil($value->format('u') / 1_000);
            }
            $next[] = is_int($value)
                ? $value
                : throw InvalidArgument::refused("{$field}[$place]", $value, 'must be an integer');
            $values->next();
        }

        return $next;
    }

    private static function uneven(string $field, string $count): InvalidArgument
    {
        return InvalidArgument::refused($field, $count, 'must be one for each ID', 'ERROR_REASON_CONTRADICTORY');
    }
}
