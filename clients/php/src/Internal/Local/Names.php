<?php

declare(strict_types=1);

namespace Offbeat\Internal\Local;

/**
 * Names that are part of run keys.
 *
 * @internal
 */
final class Names
{
    private const ALLOWED = "must be 1 to 64 characters (A-Z, a-z, 0-9, '.', '_' or '-')";

    public static function checkPart(string $field, string $name): void
    {
        if (preg_match('/^[A-Za-z0-9._-]{1,64}$/D', $name) !== 1) {
            throw Refusal::of(Refusal::OUT_OF_RANGE, $field, Refusal::quoted($name), self::ALLOWED);
        }
    }
}
