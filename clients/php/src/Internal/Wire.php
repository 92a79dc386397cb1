<?php

declare(strict_types=1);

namespace Offbeat\Internal;

/**
 * Reads and writes protobuf messages without generated classes.
 *
 * @internal
 */
final class Wire
{
    /**
     * The fields of a message: by number, each with its values in order. Varints and fixed-width values are ints, all
     * others are bytes.
     *
     * @return array<int, non-empty-list<int|string>>
     *
     * @throws \UnexpectedValueException if the bytes are not a message
     */
    public static function fields(string $bytes): array
    {
        $fields = [];
        $at = 0;
        while ($at < strlen($bytes)) {
            $tag = self::varint($bytes, $at);
            $fields[$tag >> 3][] = self::value($tag, $bytes, $at);
        }

        return $fields;
    }

    /**
     * Takes fields out of a message, so that a generated class, which is slow, reads only the others. Returns the bytes
     * of each field by its number, with the parts of a field joined, and the message without these fields.
     *
     * @param list<int> $numbers of fields of text, bytes, a message, or packed numbers
     *
     * @return array{array<int, string>, string}
     *
     * @throws \UnexpectedValueException if the bytes are not a message
     */
    public static function taken(string $bytes, array $numbers): array
    {
        $taken = array_fill_keys($numbers, '');
        $rest = '';
        $at = 0;
        while ($at < strlen($bytes)) {
            $start = $at;
            $tag = self::varint($bytes, $at);
            $value = self::value($tag, $bytes, $at);
            if (isset($taken[$tag >> 3]) && is_string($value)) {
                $taken[$tag >> 3] .= $value;
            } else {
                $rest .= substr($bytes, $start, $at - $start);
            }
        }

        return [$taken, $rest];
    }

    /** A field of text, bytes, a message, or packed numbers. */
    public static function field(int $number, string $bytes): string
    {
        return self::head($number, strlen($bytes)) . $bytes;
    }

    /** The header of a field with $length bytes. */
    public static function head(int $number, int $length): string
    {
        $head = chr($number << 3 | 2); // for field numbers up to 15
        while ($length > 0x7f) {
            $head .= chr($length & 0x7f | 0x80);
            $length >>= 7;
        }

        return $head . chr($length);
    }

    private static function value(int $tag, string $bytes, int &$at): int|string
    {
        return match ($tag & 7) {
            0 => self::varint($bytes, $at),
            1 => unpack('P', self::take($bytes, $at, 8))[1],
            2 => self::take($bytes, $at, self::varint($bytes, $at)),
            5 => unpack('V', self::take($bytes, $at, 4))[1],
            default => throw new \UnexpectedValueException('neither a field nor the end of a message'),
        };
    }

    private static function varint(string $bytes, int &$at): int
    {
        $value = 0;
        for ($shift = 0; $shift < 70; $shift += 7) {
            $byte = ord(self::take($bytes, $at, 1));
            $value |= ($byte & 0x7f) << $shift;
            if ($byte < 0x80) {
                return $value;
            }
        }
        throw new \UnexpectedValueException('a number of more than 10 bytes');
    }

    private static function take(string $bytes, int &$at, int $length): string
    {
        if ($length < 0 || $length > strlen($bytes) - $at) {
            throw new \UnexpectedValueException('a message that breaks off');
        }
        $at += $length;

        return substr($bytes, $at - $length, $length);
    }
}
