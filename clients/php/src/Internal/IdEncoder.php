<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Exception\InvalidArgument;
use Offbeat\IdType;
use Offbeat\V1;

/**
 * Converts the IDs of one call to messages. All of them must be of one type.
 *
 * An ID is an int, a string (or Stringable), a GMP object of up to 128 bits and a sign, or a float in [0, 1) for
 * Placement::Fraction. Without an IdType, a string is a UUID if it is one with hyphens, in any case; any other string
 * is text.
 *
 * @internal
 */
final class IdEncoder
{
    /** The limits for one batch: IDs, and bytes of IDs, so that the message has room for the rest. */
    public const BATCH_IDS = 65_536;
    private const BATCH_BYTES = 3 << 20;
    /** The bytes of a time-zone index. */
    public const INDEX_BYTES = 4;

    private const UUID = '/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/Di';
    private const BARE_UUID = '/^[0-9a-f]{32}$/Di';
    /** Integers of more bits are refused here: their decimals could fill the memory. */
    private const MAX_BITS = 1_024;

    private const UUIDS = 'UUIDs';
    private const TEXTS = 'text';
    private const DECIMALS = 'integers in decimal';
    private const INTEGERS = 'integers';
    private const FRACTIONS = 'fractions';

    // The field numbers of offbeat.v1.IdBatch.
    private const COLUMN_UUID_BYTES = 1;
    private const COLUMN_UUIDS = 2;
    private const COLUMN_INTEGERS = 3;
    private const COLUMN_DECIMALS = 4;
    private const COLUMN_TEXTS = 5;
    private const COLUMN_FRACTIONS = 6;
    private const COLUMN_TIME_ZONES = 7;
    private const COLUMN_TIME_ZONE_INDEXES = 8;

    private ?string $kind = null;
    private int $next = 0;

    public function __construct(private readonly ?IdType $idType)
    {
    }

    /** The message of the only ID of a call. */
    public function one(int|float|string|\Stringable|\GMP $value): V1\Id
    {
        $plain = self::plain($value, null);
        $message = new V1\Id();

        return match ($this->kindOf($plain, null)) {
            self::UUIDS => $message->setUuid($plain),
            self::TEXTS => $message->setText($plain),
            self::DECIMALS => $message->setDecimal($plain),
            self::FRACTIONS => $message->setFraction($plain),
            self::INTEGERS => is_int($plain) ? $message->setInteger($plain) : $message->setDecimal((string) $plain),
        };
    }

    /**
     * The next IDs of a call, checked.
     *
     * @param list<mixed> $ids
     *
     * @return list<int|float|string|\GMP>
     */
    public function take(array $ids): array
    {
        $first = $this->next;
        $this->next += count($ids);
        foreach ($ids as $offset => $id) {
            if (!is_string($id) && !is_int($id)) {
                $ids[$offset] = $id = self::plain($id, $first + $offset);
            }
            $kind = $this->kindOf($id, $first + $offset);
            $this->kind ??= $kind;
            if ($kind !== $this->kind) {
                throw InvalidArgument::refused(
                    self::path($first + $offset),
                    $id,
                    "must be of one type with the IDs before it ($this->kind); an IdType says what strings stand for",
                );
            }
        }

        return $ids;
    }

    /**
     * The bytes of an offbeat.v1.IdBatch with IDs that take() has checked. (Without ext-protobuf, its generated class
     * takes microseconds for each ID.)
     *
     * @param non-empty-list<int|float|string|\GMP> $ids
     * @param list<?string> $timeZones one for each ID, or none
     */
    public function column(array $ids, array $timeZones = []): string
    {
        $column = match ($this->kind) {
            self::UUIDS => $this->idType === null || self::areUuids($ids)
                ? Wire::field(self::COLUMN_UUID_BYTES, hex2bin(str_replace('-', '', implode('', $ids))))
                : self::texts(self::COLUMN_UUIDS, $ids),
            self::TEXTS => self::texts(self::COLUMN_TEXTS, $ids),
            self::DECIMALS => self::texts(self::COLUMN_DECIMALS, $ids),
            self::FRACTIONS => Wire::field(self::COLUMN_FRACTIONS, pack('e*', ...$ids)),
            default => self::areInts($ids)
                ? Wire::field(self::COLUMN_INTEGERS, pack('P*', ...$ids))
                : self::texts(self::COLUMN_DECIMALS, array_map(strval(...), $ids)),
        };
        $names = self::zoneNames($timeZones);
        if ($names === []) {
            return $column;
        }
        $indexes = array_flip($names);
        $indexes = array_map(static fn (?string $zone): int => $zone === null ? -1 : $indexes[$zone], $timeZones);

        return $column . self::zones($names, pack('V*', ...$indexes));
    }

    /**
     * The time zones that IDs live in, each once: the dictionary of a column.
     *
     * @param list<?string> $timeZones
     *
     * @return list<string>
     */
    public static function zoneNames(array $timeZones): array
    {
        return array_values(array_unique(array_filter($timeZones, is_string(...))));
    }

    /**
     * The fields of a column with the time zones of its IDs.
     *
     * @param list<string> $names
     * @param string $indexes 4 bytes for each ID
     */
    public static function zones(array $names, string $indexes): string
    {
        return self::texts(self::COLUMN_TIME_ZONES, $names) . Wire::field(self::COLUMN_TIME_ZONE_INDEXES, $indexes);
    }

    public function idsAreUuids(): bool
    {
        return $this->kind === self::UUIDS;
    }

    /**
     * Cuts IDs on demand into batches that fit into messages.
     *
     * @param iterable<mixed> $ids
     * @param int $bytesAlong bytes of the values that go with each ID
     *
     * @return \Generator<int, non-empty-list<mixed>>
     */
    public static function batches(iterable $ids, int $size = self::BATCH_IDS, int $bytesAlong = 0): \Generator
    {
        $batch = [];
        $weight = 0;
        foreach ($ids as $id) {
            if ($id instanceof \Stringable) {
                $id = (string) $id;
            }
            $bytes = $bytesAlong + (is_string($id) ? strlen($id) + 6 : 46); // with its tag and length
            if ($batch !== [] && $weight + $bytes > self::BATCH_BYTES) {
                yield $batch;
                [$batch, $weight] = [[], 0];
            }
            $batch[] = $id;
            $weight += $bytes;
            if (count($batch) === $size) {
                yield $batch;
                [$batch, $weight] = [[], 0];
            }
        }
        if ($batch !== []) {
            yield $batch;
        }
    }

    /** An ID as its plain type. Integers of 64 bits become ints, even if they are given as GMP. */
    private static function plain(mixed $value, ?int $index): int|float|string|\GMP
    {
        if ($value instanceof \GMP) {
            if (gmp_cmp(gmp_abs($value), gmp_pow(2, self::MAX_BITS)) >= 0) {
                throw InvalidArgument::refused(self::path($index), $value, 'must be -(2^128 - 1) to 2^128 - 1');
            }
            $small = gmp_cmp($value, PHP_INT_MIN) >= 0 && gmp_cmp($value, PHP_INT_MAX) <= 0;

            return $small ? gmp_intval($value) : $value;
        }
        if ($value instanceof \Stringable) {
            return (string) $value;
        }
        if (is_int($value) || is_float($value) || is_string($value)) {
            return $value;
        }
        throw InvalidArgument::refused(self::path($index), $value, 'must be an int, string, float or GMP');
    }

    private function kindOf(int|float|string|\GMP $value, ?int $index): string
    {
        if (is_string($value)) {
            if ($this->idType === null && strlen($value) === 36 && preg_match(self::UUID, $value) === 1) {
                return self::UUIDS;
            }
            if (preg_match('//u', $value) !== 1) {
                Check::utf8(self::path($index), $value);
            }

            return match ($this->idType) {
                IdType::Uuid => self::UUIDS,
                IdType::Text => self::TEXTS,
                IdType::Integer => self::DECIMALS,
                null => self::TEXTS,
            };
        }
        if ($this->idType !== null) {
            throw InvalidArgument::refused(
                self::path($index),
                $value,
                'must be a string: an IdType says what strings stand for',
            );
        }

        return is_float($value) ? self::FRACTIONS : self::INTEGERS;
    }

    /** The path of an ID's field. Made only for refusals, because it takes time. */
    private static function path(?int $index): string
    {
        return $index === null ? 'id' : "ids[$index]";
    }

    /** @param list<string> $texts */
    private static function texts(int $number, array $texts): string
    {
        $column = '';
        foreach ($texts as $text) {
            $column .= Wire::field($number, $text);
        }

        return $column;
    }

    /** @param list<string> $ids */
    private static function areUuids(array $ids): bool
    {
        foreach ($ids as $id) {
            if (preg_match(self::UUID, $id) !== 1 && preg_match(self::BARE_UUID, $id) !== 1) {
                return false;
            }
        }

        return true;
    }

    /** @param list<int|\GMP> $ids */
    private static function areInts(array $ids): bool
    {
        foreach ($ids as $id) {
            if (!is_int($id)) {
                return false;
            }
        }

        return true;
    }
}
