<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Mode;

/**
 * The settings of a client: its arguments or, if these are null, environment variables.
 *
 * @internal
 */
final class Settings
{
    private const DEFAULT_TIMEOUT = 'worker';
    /** In seconds, by the kind of process. */
    private const TIMEOUTS = ['web' => 0.3, 'worker' => 10.0];
    private const ALLOWED_TIMEOUTS = "must be a positive number of seconds, 'web' (0.3 s, with a breaker) or 'worker' (10 s)";

    public static function variable(string $name): ?string
    {
        $value = getenv($name);

        return $value === false || $value === '' ? null : $value;
    }

    public static function mode(Mode|string|null $mode): Mode
    {
        $field = $mode === null ? 'OFFBEAT_MODE' : 'mode';
        $mode ??= self::variable('OFFBEAT_MODE') ?? Mode::Remote;

        return $mode instanceof Mode ? $mode : Mode::tryFrom($mode)
            ?? throw InvalidArgument::refused($field, $mode, "must be 'remote', 'auto' or 'local'");
    }

    /** @return array{float, bool} the seconds, and whether the timeout is 'web', which has a breaker */
    public static function timeout(int|float|string|null $timeout): array
    {
        $field = $timeout === null ? 'OFFBEAT_TIMEOUT' : 'timeout';
        $timeout ??= self::variable('OFFBEAT_TIMEOUT') ?? self::DEFAULT_TIMEOUT;
        if (is_string($timeout) && isset(self::TIMEOUTS[$timeout])) {
            return [self::TIMEOUTS[$timeout], $timeout === 'web'];
        }
        if (is_string($timeout) && !($field === 'OFFBEAT_TIMEOUT' && is_numeric($timeout))) {
            throw InvalidArgument::refused($field, $timeout, self::ALLOWED_TIMEOUTS);
        }

        return [Check::timeout($field, (float) $timeout), false];
    }
}
