<?php

declare(strict_types=1);

namespace Offbeat\Internal\Breaker;

/**
 * The state of a breaker. Instants are seconds by Clock, which all processes of a machine share until the machine
 * restarts.
 *
 * @internal
 */
final class State
{
    public const BYTES = 32;

    /**
     * @param int $failures consecutive calls without an answer
     * @param float $openFor for how long the breaker was opened last, in seconds; 0.0 while it is closed
     * @param float $openUntil until when calls fail at once
     * @param float $probeUntil until when calls fail because one that was let through has no answer yet; its process
     *     may have ended
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

    /** Closed, if the bytes are not a state. */
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
