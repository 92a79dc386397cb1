<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Exception\InvalidArgument;

/**
 * The lease of a job, so that a process that did not pull the job can settle it with NamedSpread::settle(). As text, a
 * token can be part of a message; all clients of Offbeat read the same form.
 *
 * Of two leases of a job, the later one has the larger token: compare epoch, sequence and attempt, in this order.
 */
final class LeaseToken implements \Stringable
{
    private const MAX_ATTEMPT = 2 ** 31 - 1;

    /**
     * @param int $epoch the epoch of the spread in which the job was leased
     * @param int $sequence position in the order of first attempts, from 0
     * @param int $attempt leases of the job in this epoch, from 1
     */
    public function __construct(
        public readonly int $epoch,
        public readonly int $sequence,
        public readonly int $attempt,
    ) {
    }

    /**
     * Reads a token from its text.
     *
     * @throws InvalidArgument
     */
    public static function parse(string $text): self
    {
        if (preg_match('/^([0-9]{1,20})\.([0-9]{1,20})\.([0-9]{1,10})$/D', $text, $found) === 1) {
            [$epoch, $sequence, $attempt] = array_map(self::integer(...), array_slice($found, 1));
            if ($epoch !== null && $sequence !== null && $attempt <= self::MAX_ATTEMPT) {
                return new self($epoch, $sequence, $attempt);
            }
        }
        throw InvalidArgument::refused('token', $text, 'must be EPOCH.SEQUENCE.ATTEMPT, as a token gives it');
    }

    public function __toString(): string
    {
        return "$this->epoch.$this->sequence.$this->attempt";
    }

    /** Null for an integer that does not fit into 64 bits: a cast would change it. */
    private static function integer(string $digits): ?int
    {
        $value = filter_var(ltrim($digits, '0') ?: '0', FILTER_VALIDATE_INT);

        return $value === false ? null : $value;
    }
}
