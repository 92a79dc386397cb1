<?php

declare(strict_types=1);

namespace Offbeat\Tests;

/** A server process that has logged that it listens. */
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
        $admin = in_array('--admin-listen', $flags, true) ? [] : ['--admin-listen', 'off'];

        return [self::binary(), 'serve', '--listen', $address, ...$admin, ...$flags];
    }

    public static function shared(): self
    {
        return self::$shared ??= new self();
    }

    /** Below the ephemeral range, so that no outgoing connection takes it before or between uses. */
    public static function freePort(): int
    {
        do {
            $port = random_int(10_000, 32_000);
            $server = @stream_socket_server("tcp://127.0.0.1:$port");
        } while ($server === false);
        fclose($server);

        return $port;
    }

    private static function binary(): string
    {
        return getenv('OFFBEAT_BIN') ?: __DIR__ . '/../../../target/debug/offbeat';
    }
}
