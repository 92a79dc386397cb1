<?php

declare(strict_types=1);

namespace Offbeat;

/** The decider: the sidecar, or the client alone. The answers are the same to the bit. */
enum Mode: string
{
    /** The sidecar: the default. */
    case Remote = 'remote';

    /** The client what it can, and the sidecar everything else and batches of 1,000 IDs and more. */
    case Auto = 'auto';

    /** The client alone: what needs a sidecar throws NeedsSidecar. */
    case Local = 'local';
}
