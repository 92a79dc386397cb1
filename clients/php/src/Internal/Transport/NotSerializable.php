<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

/**
 * For classes that hold a connection or a secret: neither is of use in a file or in another process.
 *
 * @internal
 */
trait NotSerializable
{
    public function __serialize(): array
    {
        throw new \LogicException('an Offbeat client cannot be serialized: make another where it is needed');
    }
}
