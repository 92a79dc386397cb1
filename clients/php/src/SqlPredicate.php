<?php

declare(strict_types=1);

namespace Offbeat;

/** A condition for the WHERE clause of a query: true for the rows of a slot or of a window. */
final class SqlPredicate
{
    /**
     * @param string $sql the condition, in parentheses
     * @param array<int|string, int|string> $parameters what to bind: in the order of the
     *     placeholders, or by name (without colon) where they have names. Fractions are decimals in
     *     text, since PDO would cut floats to 14 digits
     * @param SqlIndex $index what serves it
     */
    public function __construct(
        public readonly string $sql,
        public readonly array $parameters,
        public readonly SqlIndex $index,
    ) {
    }
}
