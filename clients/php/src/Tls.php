<?php

declare(strict_types=1);

namespace Offbeat;

use Offbeat\Exception\InvalidArgument;

/**
 * TLS to a sidecar, whose certificate is always verified. Certificates and keys are paths of PEM files, which are read
 * again for each new connection.
 */
final class Tls
{
    /**
     * @param ?string $ca the only authorities to trust; by default those of the system
     * @param ?string $certificate the client's certificate with its chain, for a sidecar that asks for one
     * @param ?string $key the private key of that certificate, without a passphrase
     * @param ?string $serverName the name that the sidecar's certificate must have; by default the host of the address
     */
    public function __construct(
        public readonly ?string $ca = null,
        public readonly ?string $certificate = null,
        public readonly ?string $key = null,
        public readonly ?string $serverName = null,
    ) {
        if (($certificate === null) !== ($key === null)) {
            [$missing, $other] = $key === null ? ['key', 'certificate'] : ['certificate', 'key'];
            throw InvalidArgument::refused("tls.$missing", null, "must come with tls.$other");
        }
        if ($serverName !== null && preg_match('/^[A-Za-z0-9._-]+$/D', $serverName) !== 1) {
            throw InvalidArgument::refused('tls.server_name', $serverName, 'must be a host name');
        }
        $this->contents('ca');
        $this->contents('certificate');
        $this->contents('key');
    }

    /**
     * The current content of a file.
     *
     * @internal
     *
     * @param 'ca'|'certificate'|'key' $name
     */
    public function contents(string $name): ?string
    {
        $path = $this->$name;
        if ($path === null) {
            return null;
        }
        $what = $name === 'key' ? 'PRIVATE KEY' : 'CERTIFICATE';
        $pem = is_file($path) ? @file_get_contents($path) : false;
        if ($pem === false || !str_contains($pem, "$what-----") || str_contains($pem, 'ENCRYPTED')) {
            throw InvalidArgument::refused("tls.$name", $path, "must be a file with a $what in PEM, without a passphrase");
        }

        return $pem;
    }
}
