<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** There is no answer: catch this to go on without one. It is Unavailable or DeadlineExceeded. */
abstract class NoAnswer extends OffbeatException
{
}
