<?php

declare(strict_types=1);

namespace Offbeat;

/** An index that serves predicates. */
final class SqlIndex
{
    /**
     * @param string $name in MySQL and MariaDB also the name of the generated column that predicates name
     * @param list<string> $createStatements the statements that make the index, in order; run them once, before the
     *     first predicate
     */
    public function __construct(
        public readonly string $name,
        public readonly array $createStatements,
    ) {
    }
}
