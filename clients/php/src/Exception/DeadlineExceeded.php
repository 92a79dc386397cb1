<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The answer was not complete in time. */
final class DeadlineExceeded extends NoAnswer
{
}
