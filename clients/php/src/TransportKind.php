<?php

declare(strict_types=1);

namespace Offbeat;

/** The way to the sidecar. */
enum TransportKind: string
{
    /** curl if it speaks HTTP/2, as nearly all do, else ext-grpc. */
    case Auto = 'auto';

    /** ext-curl: works on both sides of a fork. */
    case Curl = 'curl';

    /** ext-grpc: must not be used before and after a fork. */
    case Grpc = 'grpc';
}
