<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\NeedsSidecar;

/**
 * The transport of a client that never calls a sidecar: Mode::Local.
 *
 * @internal
 */
final class NoTransport implements Transport
{
    public function call(string $method, string $bytes, float $timeout): string
    {
        throw new NeedsSidecar(substr($method, (int) strrpos($method, '/') + 1) . ' needs a sidecar: clients do not decide it');
    }

    public function close(): void
    {
    }
}
