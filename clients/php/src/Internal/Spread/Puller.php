<?php

declare(strict_types=1);

namespace Offbeat\Internal\Spread;

/**
 * Takes an iterable one by one: a generator goes no further than what was asked for.
 *
 * @internal
 */
final class Puller
{
    private readonly \Iterator $iterator;
    private bool $begun = false;

    /** @param iterable<mixed> $values */
    public function __construct(iterable $values)
    {
        $this->iterator = match (true) {
            is_array($values) => new \ArrayIterator($values),
            $values instanceof \Iterator => $values,
            default => new \IteratorIterator($values),
        };
    }

    /** Whether there is a next one. */
    public function next(mixed &$value): bool
    {
        if ($this->begun) {
            $this->iterator->next();
        } else {
            $this->iterator->rewind();
            $this->begun = true;
        }
        if (!$this->iterator->valid()) {
            return false;
        }
        $value = $this->iterator->current();

        return true;
    }
}
