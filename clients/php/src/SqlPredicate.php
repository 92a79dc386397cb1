<?php

declare(strict_types=1);

namespace Offbeat;

/** A condition for the WHERE clause of a query: true for the rows of a slot or of a window. */
final class SqlPredicate
{
    /**
     * @param string $sql the condition, in parentheses
     * @param array<int|string, int|string> $parameters the values to bind, in the order of the placeholders or, if
     *     these have names, by name (without colon). Fractions are decimals as text, because PDO would cut floats to 14
     *     digits
     * @param SqlIndex $index the index that serves the condition
     */
    public function __construct(
        public readonly string $sql,
        public readonly array $parameters,
        public readonly SqlIndex $index,
    ) {
    }
}
