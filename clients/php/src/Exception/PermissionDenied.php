<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar does not serve the user of this process over this Unix socket: see its option --socket-uids. */
final class PermissionDenied extends OffbeatException
{
}
