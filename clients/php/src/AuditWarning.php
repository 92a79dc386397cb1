<?php

declare(strict_types=1);

namespace Offbeat;

/** Something wrong with a sample of IDs; the message says it in a sentence, with what to do. */
final class AuditWarning
{
    public function __construct(public readonly AuditFinding $finding, public readonly string $message)
    {
    }
}
