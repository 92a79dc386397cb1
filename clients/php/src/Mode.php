<?php

declare(strict_types=1);

namespace Offbeat;

/** Whether the sidecar or the client decides. Both give the same answers, to the bit. */
enum Mode: string
{
    /** The sidecar decides everything: the default. */
    case Remote = 'remote';

    /**
     * The client decides requests that need no sidecar, and asks for the others. For 1,000 IDs or more it asks first,
     * and decides if that fails.
     */
    case Auto = 'auto';

    /** The client decides alone: requests that need a sidecar throw NeedsSidecar. */
    case Local = 'local';
}
