<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Tls;

/** Certificate authorities and their certificates, in a folder that is deleted with this object. */
final class Certificates
{
    private const CONFIG = "[req]\ndistinguished_name=name\n[name]\n[authority]\nbasicConstraints=critical,CA:TRUE\n"
        . "[sidecar]\nbasicConstraints=CA:FALSE\nsubjectAltName=DNS:sidecar.test,IP:127.0.0.1\n[client]\nbasicConstraints=CA:FALSE\n";

    private readonly string $folder;
    /** @var array<string, array{\OpenSSLCertificate, \OpenSSLAsymmetricKey}> */
    private array $made = [];

    public function __construct()
    {
        $this->folder = sys_get_temp_dir() . '/offbeat-certificates-' . bin2hex(random_bytes(6));
        mkdir($this->folder, 0700);
        $this->write('openssl.cnf', self::CONFIG);
        foreach (['ours', 'other'] as $authority) {
            $this->make($authority, 'authority', null);
            $this->make("sidecar-of-$authority", 'sidecar', $authority);
            $this->make("client-of-$authority", 'client', $authority);
        }
    }

    public function __destruct()
    {
        array_map(unlink(...), glob("$this->folder/*"));
        rmdir($this->folder);
    }

    /** The TLS settings of a client that trusts the sidecar. */
    public function tls(string $ca = 'ours', ?string $client = null, ?string $serverName = null): Tls
    {
        return new Tls(
            $this->path("$ca.pem"),
            $client === null ? null : $this->path("$client.pem"),
            $client === null ? null : $this->path("$client.key"),
            $serverName,
        );
    }

    /** @return list<string> of a sidecar, which requires client certificates if $mutual is true */
    public function flags(bool $mutual = false): array
    {
        $flags = ['--tls-certificate', $this->path('sidecar-of-ours.pem'), '--tls-key', $this->path('sidecar-of-ours.key')];

        return $mutual ? [...$flags, '--tls-client-ca', $this->path('ours.pem')] : $flags;
    }

    public function path(string $file): string
    {
        return "$this->folder/$file";
    }

    public function write(string $file, string $content): string
    {
        file_put_contents($this->path($file), $content);

        return $this->path($file);
    }

    private function make(string $name, string $extensions, ?string $authority): void
    {
        $options = ['config' => $this->path('openssl.cnf'), 'x509_extensions' => $extensions, 'digest_alg' => 'sha256', 'private_key_bits' => 2_048];
        $key = openssl_pkey_new($options + ['private_key_type' => OPENSSL_KEYTYPE_EC, 'curve_name' => 'prime256v1']);
        $request = openssl_csr_new(['commonName' => $name], $key, $options);
        [$issuer, $issuerKey] = $this->made[$authority] ?? [null, $key];
        $certificate = openssl_csr_sign($request, $issuer, $issuerKey, 2, $options, random_int(1, PHP_INT_MAX));
        $this->made[$name] = [$certificate, $key];
        openssl_x509_export_to_file($certificate, $this->path("$name.pem"));
        openssl_pkey_export_to_file($key, $this->path("$name.key"), null, $options);
    }
}
