<?php

declare(strict_types=1);

namespace Offbeat\Exception;

/**
 * The base class of the exceptions of this client. It is itself thrown for answers that no subclass fits. Misuse, such
 * as settling a job after its consumer was closed, throws a LogicException or an OutOfBoundsException instead.
 *
 * A refusal has its reason, field, value, what is allowed, and the details. An exception on the way to the sidecar has
 * none of them. Match on the class or on the reason, never on the text.
 */
class OffbeatException extends \RuntimeException
{
    /**
     * @param string $reason a name of offbeat.v1.ErrorReason, such as ERROR_REASON_OUT_OF_RANGE
     * @param string $field the path of the field that was refused, such as schedule.spec.slot_count
     * @param string $value what the field held, shortened
     * @param string $allowed what is allowed, with range and unit
     * @param ?float $retryDelay after how many seconds to try again; null if that is not known
     * @param list<array<string, mixed>> $details the google.rpc messages that came with the
     *     refusal, each with its "type"
     */
    public function __construct(
        string $message,
        public readonly string $reason = '',
        public readonly string $field = '',
        public readonly string $value = '',
        public readonly string $allowed = '',
        public readonly ?float $retryDelay = null,
        public readonly array $details = [],
        ?\Throwable $previous = null,
    ) {
        parent::__construct($message, 0, $previous);
    }
}
