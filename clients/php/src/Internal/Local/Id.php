<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

use Offbeat\V1;

/**
 * A checked ID, with its type.
 *
 * @internal
 */
final class Id
{
    public const UUID = 'UUID';
    public const INTEGER = 'integer';
    public const TEXT = 'text';
    public const FRACTION = 'fraction';

    private const MAX_TEXT_BYTES = 1_024;
    private const MAX_MAGNITUDE = '340282366920938463463374607431768211455'; // 2^128 - 1
    private const UUID_PATTERN = '/^([0-9a-f]{8})(-?)([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{4})\2([0-9a-f]{12})$/Di';

    /** @param string $canonical the text that is hashed, and that ends a run key */
    private function __construct(
        public readonly string $type,
        public readonly string $canonical,
        public readonly float $fraction = 0.0,
    ) {
    }

    public static function ofMessage(?V1\Id $message): self
    {
        if ($message === null) {
            throw Refusal::of(Refusal::MISSING, 'id', 'nothing', 'it must be set');
        }

        return match ($message->getId()) {
            'uuid' => self::uuid('id.uuid', $message->getUuid()),
            'uuid_bytes' => self::uuidBytes('id.uuid_bytes', $message->getUuidBytes()),
            'integer' => self::integer((int) $message->getInteger()),
            'decimal' => self::decimal('id.decimal', $message->getDecimal()),
            'text' => self::text('id.text', $message->getText()),
            'fraction' => self::fraction('id.fraction', $message->getFraction()),
            default => throw Refusal::of(Refusal::MISSING, 'id', 'nothing', 'one of its fields must be set'),
        };
    }

    public static function uuid(string $field, string $text): self
    {
        if (preg_match(self::UUID_PATTERN, $text, $found) !== 1) {
            $allowed = 'must be a UUID: 32 hexadecimal digits, or 8-4-4-4-12 of them with hyphens';
            throw Refusal::of(Refusal::MALFORMED, $field, Refusal::quoted($text), $allowed);
        }

        return new self(self::UUID, strtolower("$found[1]-$found[3]-$found[4]-$found[5]-$found[6]"));
    }

    public static function uuidBytes(string $field, string $bytes): self
    {
        if (strlen($bytes) !== 16) {
            throw Refusal::of(Refusal::MALFORMED, $field, 'a UUID of ' . strlen($bytes) . ' bytes', 'must be 16 bytes');
        }
        $digits = bin2hex($bytes);

        return new self(self::UUID, substr($digits, 0, 8) . '-' . substr($digits, 8, 4) . '-' . substr($digits, 12, 4)
            . '-' . substr($digits, 16, 4) . '-' . substr($digits, 20));
    }

    public static function integer(int $integer): self
    {
        return new self(self::INTEGER, (string) $integer);
    }

    public static function decimal(string $field, string $text): self
    {
        if (preg_match('/^(0|-?[1-9]\d*)$/D', $text) !== 1) {
            $allowed = 'must be an integer in decimal, without plus sign or leading zeros';
            throw Refusal::of(Refusal::MALFORMED, $field, Refusal::quoted($text), $allowed);
        }
        $digits = ltrim($text, '-');
        if (strcmp(str_pad($digits, 39, '0', STR_PAD_LEFT), self::MAX_MAGNITUDE) > 0 || strlen($digits) > 39) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $text, 'must be -(2^128 - 1) to 2^128 - 1');
        }

        return new self(self::INTEGER, $text);
    }

    public static function text(string $field, string $text): self
    {
        if (strlen($text) > self::MAX_TEXT_BYTES) {
            $value = 'a text of ' . strlen($text) . ' bytes';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, $value, 'must be 0 to 1024 bytes of UTF-8');
        }

        return new self(self::TEXT, $text);
    }

    public static function fraction(string $field, float $fraction): self
    {
        if (!($fraction >= 0.0 && $fraction < 1.0)) {
            $allowed = 'must be a fraction of the cycle in [0, 1)';
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, Refusal::decimals($fraction), $allowed);
        }
        $fraction += 0.0; // -0.0 becomes 0.0

        return new self(self::FRACTION, bin2hex(pack('E', $fraction)), $fraction);
    }

    /** Whether the ID identifies a row. A fraction does not: two rows may hold the same one. */
    public function isIdentity(): bool
    {
        return $this->type !== self::FRACTION;
    }

    /** The remainder of a UUID or an integer by a power of two up to 2^32; never negative. */
    public function rest(int $by): int
    {
        if ($this->type === self::UUID) {
            return hexdec(substr($this->canonical, -8)) % $by;
        }
        $rest = 0;
        foreach (str_split(ltrim($this->canonical, '-'), 9) as $digits) {
            $rest = ($rest * 10 ** strlen($digits) + (int) $digits) % $by;
        }

        return $rest > 0 && $this->canonical[0] === '-' ? $by - $rest : $rest;
    }

    /** The ID as refusals show it. */
    public function shown(): string
    {
        return "the $this->type " . match ($this->type) {
            self::TEXT => Refusal::quoted($this->canonical),
            self::FRACTION => Refusal::decimals($this->fraction),
            default => $this->canonical,
        };
    }
}
