<?php

declare(strict_types=1);

namespace Offbeat\Transport;

use Offbeat\Exception\OffbeatException;

/** Messages to the sidecar and back, as bytes. */
interface Transport
{
    /**
     * The bytes of the answer to the bytes of a question.
     *
     * @param string $method a service of offbeat.v1 and its method, such as SlotService/AssignSlot
     * @param float $timeout seconds until the answer must be complete
     *
     * @throws OffbeatException what went wrong
     */
    public function call(string $method, string $bytes, float $timeout): string;

    /** Closes the connection; the next call makes a new one. */
    public function close(): void;
}
