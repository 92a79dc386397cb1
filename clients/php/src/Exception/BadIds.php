<?php

declare(strict_types=1);

namespace Offbeat\Exception;

use Offbeat\DueRuns;
use Offbeat\IdError;
use Offbeat\MigrationPlan;
use Offbeat\PackedAssignments;
use Offbeat\SlotAssignments;

/** Some IDs of a batch were refused; the others are answered. */
final class BadIds extends InvalidArgument
{
    /** The answer of assignSlots(), in which refused IDs have -1; null for other calls. */
    public readonly ?SlotAssignments $assignments;

    /**
     * @param non-empty-list<IdError> $errors why IDs were refused, by rising index
     * @param SlotAssignments|PackedAssignments|DueRuns|MigrationPlan $answer what the call would have returned
     */
    public function __construct(
        public readonly array $errors,
        public readonly SlotAssignments|PackedAssignments|DueRuns|MigrationPlan $answer,
    ) {
        $this->assignments = $answer instanceof SlotAssignments ? $answer : null;
        $first = $errors[0];
        $more = count($errors) - 1;
        parent::__construct(
            "$first->field: $first->value is refused: $first->allowed" . ($more > 0 ? " (and $more more)" : ''),
            reason: $first->reason,
            field: $first->field,
            value: $first->value,
            allowed: $first->allowed,
        );
    }
}
