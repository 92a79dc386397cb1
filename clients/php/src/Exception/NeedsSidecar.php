<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** In Mode::Local: this cannot be decided without a sidecar. The message says why; Mode::Auto asks a sidecar instead. */
final class NeedsSidecar extends OffbeatException
{
}
