<?php

declare(strict_types=1);

namespace Offbeat\Internal\Spread;

/**
 * Takes the values of an iterable one by one: a generator runs no further than requested.
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

    /** Takes the next value. Returns whether there was one. */
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
