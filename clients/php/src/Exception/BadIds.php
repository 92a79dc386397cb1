<?php

declare(strict_types=1);

namespace Offbeat\Exception;

use Offbeat\Answer\IdError;
use Offbeat\Answer\SlotAssignments;

/** Some IDs of a batch were refused; the others are answered, in the assignments. */
final class BadIds extends InvalidArgument
{
    /** @var non-empty-list<IdError> why IDs were refused, by index, rising */
    public readonly array $errors;

    /** @param SlotAssignments $assignments the answers; refused IDs hold -1 in all columns */
    public function __construct(public readonly SlotAssignments $assignments)
    {
        $this->errors = $assignments->errors;
        $first = $this->errors[0];
        $more = count($this->errors) - 1;
        parent::__construct(
            "$first->field: $first->value is refused: $first->allowed" . ($more > 0 ? " (and $more more)" : ''),
            reason: $first->reason,
            field: $first->field,
            value: $first->value,
            allowed: $first->allowed,
        );
    }
}
