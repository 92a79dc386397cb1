<?php

declare(strict_types=1);

namespace Offbeat\Internal;

/**
 * The monotonic clock of this machine, in seconds.
 *
 * @internal
 */
final class Clock
{
    public static function now(): float
    {
        return hrtime(true) / 1e9;
    }

    public static function sleep(float $seconds): void
    {
        usleep((int) ceil($seconds * 1e6));
    }
}
