<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\OffbeatException;

/**
 * Messages to the sidecar and back, as bytes.
 *
 * @internal
 */
interface Transport
{
    /**
     * The bytes of the answer to the bytes of a question.
     *
     * @param string $method with its service, such as offbeat.v1.SlotService/AssignSlot
     * @param float $timeout seconds until the answer must be complete
     *
     * @throws OffbeatException what went wrong
     */
    public function call(string $method, string $bytes, float $timeout): string;

    /** Closes the connection; the next call makes a new one. */
    public function close(): void;
}
