<?php

declare(strict_types=1);

namespace Offbeat\Tests;

/** A server process that has said that it listens. */
final class Sidecar
{
    private static ?self $shared = null;

    public readonly string $address;
    public readonly Process $process;

    /** @param list<string> $flags */
    public function __construct(?string $address = null, array $flags = [])
    {
        $this->address = $address ?? '127.0.0.1:' . self::freePort();
        $this->process = new Process(self::command($this->address, $flags));
        $this->process->waitFor('/listening/');
    }

    /**
     * @param list<string> $flags
     *
     * @return list<string>
     */
    public static function command(string $address, array $flags = []): array
    {
        return [self::binary(), 'serve', '--listen', $address, '--admin-listen', 'off', ...$flags];
    }

    public static function shared(): self
    {
        return self::$shared ??= new self();
    }

    public static function freePort(): int
    {
        $server = stream_socket_server('tcp://127.0.0.1:0');
        $name = stream_socket_get_name($server, false);
        fclose($server);

        return (int) substr($name, strrpos($name, ':') + 1);
    }

    private static function binary(): string
    {
        return getenv('OFFBEAT_BIN') ?: __DIR__ . '/../../../target/debug/offbeat';
    }
}
