<?php

declare(strict_types=1);

namespace Offbeat;

/** The type of IDs that strings stand for, where the strings do not show it. */
enum IdType: string
{
    /** UUIDs, hyphenated or not, in any case. */
    case Uuid = 'uuid';

    /** Text as it is, even if it looks like a UUID. */
    case Text = 'text';

    /** Integers in decimal, of up to 128 bits and a sign. */
    case Integer = 'integer';
}
