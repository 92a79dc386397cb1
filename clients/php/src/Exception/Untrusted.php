<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/**
 * There is no TLS with whoever is there: no authority that we trust has signed its certificate, or
 * for another name; or our own files are of no use. Nothing was sent, and asking again does not help.
 */
final class Untrusted extends OffbeatException
{
}
