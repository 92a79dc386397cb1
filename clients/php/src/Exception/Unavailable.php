<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar cannot be reached, or shuts down; retries have been made. */
class Unavailable extends NoAnswer
{
}
