<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

/**
 * Holds a value so that nothing shows it: outside of the object, because dumps and casts read the properties of
 * objects.
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
