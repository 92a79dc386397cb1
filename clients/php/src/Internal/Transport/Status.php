<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\PermissionDenied;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unauthenticated;
use Offbeat\Exception\Unavailable;
use Offbeat\Internal\Wire;

/**
 * Converts the status of a call to an exception.
 *
 * It reads the few messages of google.rpc that it needs without generated classes: these would clash with the classes
 * of google/common-protos in the same application.
 *
 * @internal
 */
final class Status
{
    public const OK = 0;
    public const DEADLINE_EXCEEDED = 4;
    public const UNAVAILABLE = 14;

    private const TYPE_PREFIX = 'type.googleapis.com/';

    /** @param string $status the bytes of a google.rpc.Status; empty if there is none */
    public static function exception(int $code, string $message, string $status): OffbeatException
    {
        try {
            $details = self::details($status);
        } catch (\UnexpectedValueException) {
            $details = []; // the code and the message are enough
        }
        $info = self::of('google.rpc.ErrorInfo', $details);
        $metadata = $info['metadata'] ?? [];
        $class = match ($code) {
            3 => InvalidArgument::class,
            self::DEADLINE_EXCEEDED => DeadlineExceeded::class,
            5 => NotFound::class,
            7 => PermissionDenied::class,
            8 => ResourceExhausted::class,
            9 => FailedPrecondition::class,
            self::UNAVAILABLE => Unavailable::class,
            16 => Unauthenticated::class,
            default => OffbeatException::class,
        };

        return new $class(
            $message === '' ? "the sidecar ended the call with the gRPC code $code" : $message,
            reason: $info['reason'] ?? '',
            field: $metadata['field'] ?? '',
            value: $metadata['value'] ?? '',
            allowed: $metadata['allowed'] ?? '',
            retryDelay: self::of('google.rpc.RetryInfo', $details)['retryDelay'] ?? null,
            details: $details,
        );
    }

    /**
     * @param list<array<string, mixed>> $details
     *
     * @return array<string, mixed>
     */
    private static function of(string $type, array $details): array
    {
        foreach ($details as $detail) {
            if ($detail['type'] === $type) {
                return $detail;
            }
        }

        return [];
    }

    /** @return list<array<string, mixed>> */
    private static function details(string $status): array
    {
        $details = [];
        foreach (Wire::fields($status)[3] ?? [] as $packed) {
            $any = Wire::fields(self::bytes($packed));
            $type = self::text($any, 1);
            if (str_starts_with($type, self::TYPE_PREFIX)) {
                $type = substr($type, strlen(self::TYPE_PREFIX));
            }
            $bytes = self::text($any, 2);
            $fields = Wire::fields($bytes);
            $details[] = ['type' => $type] + match ($type) {
                'google.rpc.ErrorInfo' => [
                    'reason' => self::text($fields, 1),
                    'domain' => self::text($fields, 2),
                    'metadata' => array_column(self::pairs($fields, 3), 1, 0),
                ],
                'google.rpc.RetryInfo' => ['retryDelay' => self::seconds(self::text($fields, 1))],
                'google.rpc.BadRequest' => [
                    'fieldViolations' => self::named(['field', 'description'], self::pairs($fields, 1)),
                ],
                'google.rpc.QuotaFailure' => [
                    'violations' => self::named(['subject', 'description'], self::pairs($fields, 1)),
                ],
                default => ['bytes' => $bytes],
            };
        }

        return $details;
    }

    /**
     * The messages in a field, each as its first two texts.
     *
     * @param array<int, list<int|string>> $fields
     *
     * @return list<array{string, string}>
     */
    private static function pairs(array $fields, int $number): array
    {
        return array_map(static function (int|string $bytes): array {
            $pair = Wire::fields(self::bytes($bytes));

            return [self::text($pair, 1), self::text($pair, 2)];
        }, $fields[$number] ?? []);
    }

    /**
     * @param array{string, string} $names
     * @param list<array{string, string}> $pairs
     *
     * @return list<array<string, string>>
     */
    private static function named(array $names, array $pairs): array
    {
        return array_map(static fn (array $pair): array => array_combine($names, $pair), $pairs);
    }

    private static function seconds(string $duration): float
    {
        $fields = Wire::fields($duration);

        return ($fields[1][0] ?? 0) + ($fields[2][0] ?? 0) / 1e9;
    }

    /** @param array<int, list<int|string>> $fields */
    private static function text(array $fields, int $number): string
    {
        return self::bytes($fields[$number][0] ?? '');
    }

    private static function bytes(int|string $value): string
    {
        return is_string($value) ? $value : throw new \UnexpectedValueException('a number where bytes were due');
    }
}
