<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar was not called, because the last calls got no answer. It is called again after $retryDelay seconds. */
final class CircuitOpen extends Unavailable
{
}
