<?php

declare(strict_types=1);

namespace Offbeat\Internal\Breaker;

/**
 * What a breaker knows. Instants are seconds of the clock that never jumps, which all processes of a machine share
 * until it is started again.
 *
 * @internal
 */
final class State
{
    public const BYTES = 32;

    /**
     * @param int $failures calls in a row without an answer; 0 while closed and well
     * @param float $openFor for how long it was opened last; 0.0 while closed
     * @param float $openUntil until when calls fail at once
     * @param float $probeUntil until when an answer to the call is awaited that was let through; its process may have died
     */
    public function __construct(
        public readonly int $failures = 0,
        public readonly float $openFor = 0.0,
        public readonly float $openUntil = 0.0,
        public readonly float $probeUntil = 0.0,
    ) {
    }

    public function bytes(): string
    {
        return pack('Jeee', $this->failures, $this->openFor, $this->openUntil, $this->probeUntil);
    }

    /** Closed, for bytes that are none of ours. */
    public static function ofBytes(string $bytes): self
    {
        if (strlen($bytes) !== self::BYTES) {
            return new self();
        }

        return new self(...array_values(unpack('Ja/eb/ec/ed', $bytes)));
    }

    public function isWell(): bool
    {
        return $this->failures === 0 && $this->openFor === 0.0;
    }
}
