<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Exception\InvalidArgument;

/**
 * The lease of a job, for a process that did not pull the job: NamedSpread::settle() takes it. As text it goes into a
 * message, in a form that all clients of Offbeat read.
 *
 * Of two leases of a job, the later has the larger token: compare epoch, sequence and attempt, in this order.
 */
final class LeaseToken implements \Stringable
{
    private const MAX_ATTEMPT = 2 ** 31 - 1;

    /**
     * @param int $epoch one life of the spread
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

    /** Null for one beyond 64 bits, which a cast would change. */
    private static function integer(string $digits): ?int
    {
        $value = filter_var(ltrim($digits, '0') ?: '0', FILTER_VALIDATE_INT);

        return $value === false ? null : $value;
    }
}
