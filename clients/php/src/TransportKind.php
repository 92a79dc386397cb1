<?php

declare(strict_types=1);

namespace Offbeat;

/** How calls reach the sidecar. */
enum TransportKind: string
{
    /** ext-curl if it is loaded, else ext-grpc. */
    case Auto = 'auto';

    /** ext-curl: may be used on both sides of a fork. */
    case Curl = 'curl';

    /** ext-grpc: must not be used both before and after a fork. */
    case Grpc = 'grpc';
}
