<?php

declare(strict_types=1);

namespace Offbeat\Tests\Random;

use DateTimeImmutable;

/** Random parts of requests, from PHP's own generator, which the test seeds. */
final class Draw
{
    private const LETTERS = ['', 'a', 'é', '✓', '%', '$1', "it's", '\\', '?', ':x', ' ', "\u{200b}", "\n"];

    /** Whether drawn values may be invalid. */
    public static bool $mayErr = false;

    public static function instant(): DateTimeImmutable
    {
        $text = self::pick([
            '2026-01-01T00:00:00Z', '2038-01-19T03:14:08.999999Z', '1969-12-31T23:59:59.5Z', '1955-11-12T22:04:00.001Z', '0001-01-01T00:00:00Z',
            '9999-12-31T23:59:59Z', '2026-07-01T12:00:00.0005Z',
        ]);

        return self::oneIn(2) ? (new DateTimeImmutable('@' . self::number(0, 4 * 10 ** 9))) : new DateTimeImmutable($text);
    }

    public static function text(): string
    {
        return implode('', array_map(static fn (): string => self::pick(self::LETTERS), range(1, self::number(1, 4)))) . self::number(0, 1_000);
    }

    public static function bytes(int $count): string
    {
        return implode('', array_map(static fn (): string => chr(self::number(0, 255)), range(1, $count)));
    }

    /** Whether to draw an invalid value. */
    public static function errs(int $oneIn): bool
    {
        return self::$mayErr && self::oneIn($oneIn);
    }

    public static function oneIn(int $count): bool
    {
        return mt_rand(1, $count) === 1;
    }

    public static function number(int $least, int $most): int
    {
        return mt_rand($least, $most);
    }

    public static function pick(array $values): mixed
    {
        $values = array_values($values);

        return $values[mt_rand(0, count($values) - 1)];
    }

    public static function some(array $values): array
    {
        shuffle($values);

        return array_slice($values, 0, mt_rand(1, count($values)));
    }
}
