<?php

declare(strict_types=1);

namespace Offbeat;

/** The type of the IDs that strings stand for. Without one, hyphenated UUIDs are UUIDs, and other strings are text. */
enum IdType: string
{
    /** UUIDs, hyphenated or not, in any case. */
    case Uuid = 'uuid';

    /** Text as it is, even if it looks like a UUID. */
    case Text = 'text';

    /** Integers in decimal, of up to 128 bits and a sign. */
    case Integer = 'integer';
}
