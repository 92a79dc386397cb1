<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The user that this process runs as may not call over this Unix socket: --socket-uids of the sidecar says which may. */
final class PermissionDenied extends OffbeatException
{
}
