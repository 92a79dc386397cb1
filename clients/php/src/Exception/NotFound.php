<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The requested object does not exist. */
final class NotFound extends OffbeatException
{
}
