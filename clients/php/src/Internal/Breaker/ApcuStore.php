<?php

declare(strict_types=1);

namespace Offbeat\Internal\Breaker;

/**
 * The state in the memory that the processes of a PHP-FPM pool share.
 *
 * @internal
 */
final class ApcuStore implements Store
{
    private const KEPT_SECONDS = 7_200;

    public function __construct(private readonly string $name)
    {
    }

    public static function isUsable(): bool
    {
        return function_exists('apcu_enabled') && apcu_enabled();
    }

    public function read(): State
    {
        $bytes = apcu_fetch($this->name);

        return State::ofBytes(is_string($bytes) ? $bytes : '');
    }

    public function change(\Closure $change): bool
    {
        // The process that adds the lock has it. The lock expires after a second, in case that process has ended.
        if (!apcu_add("$this->name lock", 1, 1)) {
            return false;
        }
        try {
            $next = $change($this->read());

            return $next !== null && apcu_store($this->name, $next->bytes(), self::KEPT_SECONDS);
        } finally {
            apcu_delete("$this->name lock");
        }
    }
}
