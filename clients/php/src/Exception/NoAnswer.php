<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** No answer came: catch this to continue without one. It is Unavailable or DeadlineExceeded. */
abstract class NoAnswer extends OffbeatException
{
}
