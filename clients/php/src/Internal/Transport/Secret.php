<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

/**
 * Holds a value that nothing shows: outside of the object, since dumps and casts read its properties.
 *
 * @internal
 */
final class Secret
{
    use NotSerializable;

    /** @var ?\WeakMap<self, mixed> */
    private static ?\WeakMap $values = null;

    public function __construct(#[\SensitiveParameter] mixed $value)
    {
        self::$values ??= new \WeakMap();
        self::$values[$this] = $value;
    }

    /** @return array<string, string> what dumps show */
    public function __debugInfo(): array
    {
        return ['value' => '[redacted]'];
    }

    public function reveal(): mixed
    {
        return self::$values[$this];
    }

    private function __clone()
    {
    }
}
