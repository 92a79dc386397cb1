<?php

declare(strict_types=1);

namespace Offbeat\Internal\Breaker;

/**
 * The state in this process alone, if neither APCu nor a file can be used.
 *
 * @internal
 */
final class MemoryStore implements Store
{
    /** @var array<string, State> */
    private static array $states = [];

    public function __construct(private readonly string $name)
    {
    }

    public function read(): State
    {
        return self::$states[$this->name] ?? new State();
    }

    public function change(\Closure $change): bool
    {
        $next = $change($this->read());
        if ($next !== null) {
            self::$states[$this->name] = $next;
        }

        return $next !== null;
    }
}
