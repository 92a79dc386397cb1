<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** In Mode::Local: the request needs a sidecar. The message says why. Mode::Auto asks a sidecar instead. */
final class NeedsSidecar extends OffbeatException
{
}
