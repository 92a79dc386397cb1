<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/**
 * TLS failed: no authority that we trust has signed the sidecar's certificate, or it names another host, or
 * our own files are of no use. Nothing was sent, and asking again does not help.
 */
final class Untrusted extends OffbeatException
{
}
