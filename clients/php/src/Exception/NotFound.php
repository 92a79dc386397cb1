<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** What was asked for is not there. */
final class NotFound extends OffbeatException
{
}
