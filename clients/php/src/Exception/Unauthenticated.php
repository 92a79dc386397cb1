<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar asks for a token, and there was none, or none that it takes. */
final class Unauthenticated extends OffbeatException
{
}
