<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/**
 * TLS failed: no trusted authority has signed the sidecar's certificate, the certificate names another host, or a file
 * of the client's Tls is invalid. Nothing was sent, and repeating the call does not help.
 */
final class Untrusted extends OffbeatException
{
}
