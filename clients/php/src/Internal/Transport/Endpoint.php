<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\Unavailable;
use Offbeat\Exception\Untrusted;
use Offbeat\Tls;

/**
 * A sidecar: its address, how its identity is verified, and the token that authenticates this client.
 *
 * @internal
 */
final class Endpoint
{
    /** @param ?Secret $token a string, or a closure that returns one */
    private function __construct(
        public readonly Address $address,
        public readonly ?Tls $tls,
        private readonly ?Secret $token,
    ) {
    }

    /** @param string|(\Closure(): string)|null $token */
    public static function of(
        string $address,
        ?Tls $tls = null,
        #[\SensitiveParameter]
        string|\Closure|null $token = null,
    ): self {
        $place = Address::parse($address);
        if ($tls !== null && $place->path !== null) {
            throw InvalidArgument::refused('tls', $address, 'is for HOST:PORT: there is no TLS on Unix sockets');
        }
        if ($token !== null && $tls === null && !$place->isLocal()) {
            throw InvalidArgument::refused('token', $address, 'must not go to another machine without TLS: give tls, too');
        }
        if (is_string($token)) {
            self::checked($token);
        }

        return new self($place, $tls, $token === null ? null : new Secret($token));
    }

    /** The value of the authorization header, with the current token; null if there is no token. */
    public function authorization(): ?string
    {
        if ($this->token === null) {
            return null;
        }
        $token = $this->token->reveal();

        return 'Bearer ' . self::checked($token instanceof \Closure ? $token() : $token);
    }

    /** The host and port, as HTTP names them. */
    public function authority(): string
    {
        $name = $this->tls?->serverName;

        return $name === null ? $this->address->authority : "$name:{$this->address->port}";
    }

    public function unreachable(string $why): Unavailable
    {
        $hint = match (true) {
            $this->tls !== null => ', with TLS, and does it take our certificate',
            $this->address->path !== null => ', and may this user call it',
            default => ', without TLS',
        };

        return new Unavailable(
            "{$this->address->text}: the sidecar cannot be reached: is 'offbeat serve' running there$hint? ("
                . self::plain($why) . ')',
        );
    }

    public function untrusted(string $why): Untrusted
    {
        return new Untrusted(
            "{$this->address->text}: TLS failed: is that the sidecar, and are the files of tls right? (" . self::plain($why) . ')',
        );
    }

    /** Whether TLS failed for good, by the texts of ext-grpc and of PHP's sockets, which say it in no other way. */
    public static function saysUntrusted(string $words): bool
    {
        return preg_match('/certificate verify failed|not in peer certificate|did not match expected|peer certificate CN/i', $words) === 1;
    }

    /** The text without what PHP puts before OpenSSL's own. */
    private static function plain(string $why): string
    {
        return preg_replace('/^\w+\(\): |SSL operation failed with code \d+\. OpenSSL Error messages:\s*/', '', $why);
    }

    private static function checked(#[\SensitiveParameter] mixed $token): string
    {
        $trimmed = is_string($token) ? trim($token) : ''; // files end with a line break
        if (preg_match('#^[A-Za-z0-9._~+/=-]+$#D', $trimmed) !== 1) {
            throw InvalidArgument::refused('token', '[redacted]', 'must be letters, digits and -._~+/= alone');
        }

        return $trimmed;
    }
}
