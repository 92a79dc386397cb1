<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\Wire;

/**
 * Converts errors of the Connect protocol, which are JSON, to exceptions.
 *
 * @internal
 */
final class ConnectError
{
    /** The names of the gRPC codes, from 1. */
    private const CODES = [
        'canceled', 'unknown', 'invalid_argument', 'deadline_exceeded', 'not_found', 'already_exists',
        'permission_denied', 'resource_exhausted', 'failed_precondition', 'aborted', 'out_of_range',
        'unimplemented', 'internal', 'unavailable', 'data_loss', 'unauthenticated',
    ];
    private const UNKNOWN = 2;

    /** @param array<string, mixed> $error as it was decoded; a value of the wrong type counts as missing */
    public static function exception(array $error): OffbeatException
    {
        $status = '';
        foreach (is_array($error['details'] ?? null) ? $error['details'] : [] as $detail) {
            $any = Wire::field(1, 'type.googleapis.com/' . self::text($detail, 'type'))
                . Wire::field(2, (string) base64_decode(self::text($detail, 'value')));
            $status .= Wire::field(3, $any);
        }
        $index = array_search(self::text($error, 'code'), self::CODES, true);

        return Status::exception($index === false ? self::UNKNOWN : $index + 1, self::text($error, 'message'), $status);
    }

    private static function text(mixed $fields, string $name): string
    {
        $value = is_array($fields) ? $fields[$name] ?? '' : '';

        return is_string($value) ? $value : '';
    }
}
