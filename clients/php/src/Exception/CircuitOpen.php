<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** The sidecar was not asked, since it did not answer the calls before: retryDelay says when it will be asked again. */
final class CircuitOpen extends Unavailable
{
}
