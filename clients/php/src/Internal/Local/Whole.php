<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

/**
 * Integer arithmetic: quotients and remainders of negative numbers, which intdiv() and % round towards zero, and shares
 * of unsigned 64-bit numbers, which do not fit into PHP's integers.
 *
 * A 64-bit number is four limbs of 16 bits, the highest first. A limb times the ticks of a cycle, which are fewer than
 * 2^39, stays far below 2^63.
 *
 * @internal
 */
final class Whole
{
    /** The quotient, rounded down. */
    public static function floor(int $number, int $by): int
    {
        return intdiv($number - self::rest($number, $by), $by);
    }

    /** The quotient, rounded up. */
    public static function ceil(int $number, int $by): int
    {
        return -self::floor(-$number, $by);
    }

    /** The remainder of floor(): never negative. */
    public static function rest(int $number, int $by): int
    {
        $rest = $number % $by;

        return $rest < 0 ? $rest + $by : $rest;
    }

    /**
     * ⌊number·whole / 2^64⌋, for a 64-bit number.
     *
     * @param array{int, int, int, int} $limbs
     */
    public static function share(array $limbs, int $whole): int
    {
        [$a, $b, $c, $d] = $limbs;

        return ((((($d * $whole >> 16) + $c * $whole) >> 16) + $b * $whole >> 16) + $a * $whole) >> 16;
    }

    /** ⌈part·2^64 / whole⌉ as 17 hexadecimal digits, which sort like the numbers; a part is at most the whole. */
    public static function bound(int $part, int $whole): string
    {
        $digits = sprintf('%x', intdiv($part, $whole));
        $rest = $part % $whole;
        for ($limb = 0; $limb < 4; ++$limb) {
            $digits .= sprintf('%04x', intdiv($rest << 16, $whole));
            $rest = ($rest << 16) % $whole;
        }
        if ($rest === 0) {
            return $digits;
        }
        $kept = rtrim($digits, 'f');

        return substr($kept, 0, -1) . dechex(hexdec(substr($kept, -1)) + 1) . str_repeat('0', strlen($digits) - strlen($kept));
    }
}
