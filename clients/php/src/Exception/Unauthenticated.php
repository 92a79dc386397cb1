<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar requires a token, and the call had none, or one that the sidecar does not accept. */
final class Unauthenticated extends OffbeatException
{
}
