<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\InvalidArgument;

/**
 * The address of a sidecar: HOST:PORT, or a Unix socket.
 *
 * @internal
 */
final class Address
{
    private const ALLOWED = 'must be HOST:PORT with a port of 1 to 65535, or unix:PATH';

    private function __construct(
        public readonly string $text,
        public readonly string $authority,
        public readonly string $host,
        public readonly int $port,
        public readonly ?string $path,
    ) {
    }

    public static function parse(string $text): self
    {
        if (preg_match('#^unix:(?://)?(/?[^\0]+)$#Ds', $text, $found) === 1) {
            return new self($text, 'localhost', 'localhost', 0, $found[1]);
        }
        $tcp = preg_match('#^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$#D', $text, $found) === 1;
        if (!$tcp || $found[2] < 1 || $found[2] > 65_535) {
            throw InvalidArgument::refused('address', $text, self::ALLOWED);
        }

        return new self($text, $text, trim($found[1], '[]'), (int) $found[2], null);
    }

    /** Whether data that is sent there stays on this machine. */
    public function isLocal(): bool
    {
        return $this->path !== null
            || strtolower($this->host) === 'localhost'
            || (ip2long($this->host) !== false && str_starts_with($this->host, '127.'))
            || @inet_pton($this->host) === inet_pton('::1');
    }
}
