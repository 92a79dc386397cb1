<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar cannot be reached, or is shutting down. Calls that may be repeated have been retried. */
class Unavailable extends NoAnswer
{
}
