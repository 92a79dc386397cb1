<?php

declare(strict_types=1);

namespace Offbeat;

/** A problem with a sample of IDs. The message is a sentence with figures, and what to do. */
final class AuditWarning
{
    public function __construct(public readonly AuditFinding $finding, public readonly string $message)
    {
    }
}
