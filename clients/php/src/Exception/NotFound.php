<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The requested object does not exist, such as a spread, or a schedule of this name and version. */
final class NotFound extends OffbeatException
{
}
