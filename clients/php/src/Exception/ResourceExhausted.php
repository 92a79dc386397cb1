<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/** A limit is reached: try again after $retryDelay seconds, or with a smaller message. */
final class ResourceExhausted extends OffbeatException
{
}
