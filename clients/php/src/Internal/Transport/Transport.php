<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\OffbeatException;

/**
 * Sends messages to the sidecar, and returns its answers, as bytes.
 *
 * @internal
 */
interface Transport
{
    /**
     * Sends the bytes of a request, and returns the bytes of the answer.
     *
     * @param string $method with its service, such as offbeat.v1.SlotService/AssignSlot
     * @param float $timeout seconds until the answer must be complete
     *
     * @throws OffbeatException the refusal of the sidecar, or the reason why there is no answer
     */
    public function call(string $method, string $bytes, float $timeout): string;

    /** Closes the connection; the next call makes a new one. */
    public function close(): void;
}
