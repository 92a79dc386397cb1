<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The requested object is in a state that does not allow the call. */
final class FailedPrecondition extends OffbeatException
{
}
