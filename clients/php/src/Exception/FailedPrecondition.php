<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** Asked in the wrong state. */
final class FailedPrecondition extends OffbeatException
{
}
