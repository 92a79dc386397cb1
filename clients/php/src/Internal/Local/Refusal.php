<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;

/**
 * Refusals with exactly the text of the sidecar's.
 *
 * @internal
 */
final class Refusal
{
    public const MISSING = 'FIELD_MISSING';
    public const OUT_OF_RANGE = 'OUT_OF_RANGE';
    public const MALFORMED = 'MALFORMED';
    public const CONTRADICTORY = 'CONTRADICTORY';
    public const DOES_NOT_DIVIDE = 'SLOT_COUNT_DOES_NOT_DIVIDE';
    public const UNSUITABLE = 'ID_TYPE_UNSUITABLE';
    public const KINDS_DO_NOT_FIT = 'KINDS_DO_NOT_FIT';

    private const SHOWN_CHARACTERS = 80;
    private const ESCAPES = ["\t" => '\\t', "\n" => '\\n', "\r" => '\\r'];

    public static function of(string $reason, string $field, string|int $value, string $allowed): InvalidArgument
    {
        [$field, $value, $allowed] = [self::printable($field), self::shortened((string) $value), self::printable($allowed)];

        return new InvalidArgument(
            $reason === self::MISSING ? "$field: is missing: $allowed" : "$field: $value is refused: $allowed",
            "ERROR_REASON_$reason",
            $field,
            $value,
            $allowed,
            details: [
                self::info("ERROR_REASON_$reason", $field, $value, $allowed),
                ['type' => 'google.rpc.BadRequest', 'fieldViolations' => [['field' => $field, 'description' => "$value: $allowed"]]],
            ],
        );
    }

    public static function unknownSchedule(string $field, string $name, string $allowed): NotFound
    {
        $reason = 'ERROR_REASON_UNKNOWN_SCHEDULE';
        $details = [self::info($reason, $field, $name, $allowed)];

        return new NotFound("$field: $name is refused: $allowed", $reason, $field, $name, $allowed, details: $details);
    }

    /** Text in quotes, as `{:?}` of Rust writes it. */
    public static function quoted(string $text): string
    {
        $escaped = strtr($text, ['\\' => '\\\\', '"' => '\\"', "\0" => '\\0'] + self::ESCAPES);

        return '"' . self::escaped('/[\p{C}\p{Zl}\p{Zp}]/u', $escaped) . '"';
    }

    /** A double as `{:?}` of Rust writes it: with the fewest digits that identify it. */
    public static function decimals(float $number): string
    {
        if (is_nan($number) || is_infinite($number)) {
            return is_nan($number) ? 'NaN' : ($number < 0 ? '-inf' : 'inf');
        }
        if ($number === 0.0 || (abs($number) >= 1e-4 && abs($number) < 1e16)) {
            return self::plain($number);
        }
        [$digits, $power] = explode('e', sprintf('%.*e', 17, $number));
        for ($precision = 0; $precision < 17; ++$precision) {
            [$shorter, $power] = explode('e', sprintf('%.*e', $precision, $number));
            if ((float) "{$shorter}e$power" === $number) {
                $digits = $shorter;
                break;
            }
        }

        return $digits . 'e' . (int) $power;
    }

    /** The part of a value that a refusal shows. */
    public static function shortened(string $value): string
    {
        $shown = mb_substr($value, 0, self::SHOWN_CHARACTERS, 'UTF-8');

        return self::printable($shown) . ($shown === $value ? '' : '…');
    }

    private static function printable(string $text): string
    {
        return preg_match('/\p{Cc}/u', $text) === 1 ? self::escaped('/\p{Cc}/u', strtr($text, self::ESCAPES)) : $text;
    }

    private static function escaped(string $pattern, string $text): string
    {
        $number = static fn (array $found): string => sprintf('\\u{%x}', mb_ord($found[0], 'UTF-8'));

        return preg_replace_callback($pattern, $number, $text) ?? $text;
    }

    private static function plain(float $number): string
    {
        $shortest = var_export($number, true);
        if (!str_contains($shortest, 'E')) {
            return $shortest;
        }
        for ($precision = 1; $precision < 25; ++$precision) {
            if ((float) ($text = sprintf('%.*F', $precision, $number)) === $number) {
                return $text;
            }
        }

        return $shortest;
    }

    /** @return array<string, mixed> */
    private static function info(string $reason, string $field, string $value, string $allowed): array
    {
        $metadata = ['field' => $field, 'value' => $value, 'allowed' => $allowed];

        return ['type' => 'google.rpc.ErrorInfo', 'reason' => $reason, 'domain' => 'offbeat', 'metadata' => $metadata];
    }
}
