<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use CurlHandle;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Tls;

/**
 * The unary form of the Connect protocol over ext-curl: a POST over HTTP/1.1 with the bytes of the message, over TCP,
 * TLS or a Unix socket. (Before version 8.0, libcurl cannot use a connection for gRPC twice.)
 *
 * Connects at the first call and keeps the connection for the next ones.
 *
 * @internal
 */
final class CurlTransport implements Transport
{
    use NotSerializable;

    /** Enough for a batch of 65,536 IDs that are all refused, with an error for each. */
    private const MAX_ANSWER_BYTES = 64 << 20;
    /** The sidecar closes idle connections after 60 s. */
    private const KEEP_IDLE_SECONDS = 30;
    /** How much of a request the sidecar usually reads together with its head. */
    private const READ_WITH_THE_HEAD_BYTES = 8 << 10;
    private const BUFFER_BYTES = 256 << 10;
    /** 23 days: libcurl counts milliseconds in 32 bits on some systems. */
    private const MAX_TIMEOUT_SECONDS = 2_000_000;
    /** A complete head, of a body whose end is known. */
    private const HEAD = '/^(content-length|transfer-encoding):.*^\r\n$/ims';
    private const TLS_ERRORS = [CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT, CURLE_SSL_CACERT_BADFILE];

    /** @var list<CurlHandle> */
    private static array $inherited = [];

    private ?CurlHandle $handle = null;
    private int $pid = 0;

    public function __construct(
        private readonly Endpoint $endpoint,
        private readonly int $maxAnswerBytes = self::MAX_ANSWER_BYTES,
    ) {
    }

    public static function isUsable(): bool
    {
        return extension_loaded('curl');
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        $handle = $this->handle();
        $deadline = hrtime(true) / 1e9 + $timeout;
        // The message follows at once, without waiting for a "100 Continue".
        [$head, $body] = $this->exchange($handle, $method, $bytes, $timeout, 'expect:');
        $left = $deadline - hrtime(true) / 1e9;
        if (curl_errno($handle) === CURLE_SEND_ERROR && $left > 0) {
            // The sidecar may have answered before it had read the whole message, and libcurl did not read that answer.
            // A part of a message has no effect: send the message again, but only after the sidecar asks for it.
            [$head, $body] = $this->exchange($handle, $method, $bytes, $left, 'expect: 100-continue');
        }
        $this->checkConnection($handle, strlen($body), $timeout);
        if (preg_match(self::HEAD, $head) !== 1) {
            // libcurl accepts such an answer, as empty or as long as the part that has arrived.
            throw $this->endpoint->unreachable('the answer broke off');
        }

        if (strlen($bytes) > self::READ_WITH_THE_HEAD_BYTES && curl_getinfo($handle, CURLINFO_RESPONSE_CODE) !== 200) {
            $this->close(); // the sidecar may refuse before it has read everything, and then closes the connection too
        }

        return $this->answer($handle, $body);
    }

    public function close(): void
    {
        if ($this->pid === getmypid()) {
            $this->handle = null;
        }
    }

    /** @return array{string, string} the parts of the head and of the body that have arrived */
    private function exchange(CurlHandle $handle, string $method, string $bytes, float $timeout, string $expectation): array
    {
        $head = $body = '';
        $maxByteCount = $this->maxAnswerBytes;
        $authorization = $this->endpoint->authorization();
        $scheme = $this->endpoint->tls === null ? 'http' : 'https';
        $millis = (int) ceil(min($timeout, self::MAX_TIMEOUT_SECONDS) * 1_000);
        curl_setopt_array($handle, [
            CURLOPT_URL => "$scheme://{$this->endpoint->authority()}/$method",
            CURLOPT_HTTPHEADER => [
                'content-type: application/proto',
                'connect-protocol-version: 1',
                "connect-timeout-ms: $millis",
                'accept:',
                $expectation,
                ...($authorization === null ? [] : ["authorization: $authorization"]),
            ],
            CURLOPT_POSTFIELDS => $bytes,
            CURLOPT_TIMEOUT_MS => $millis,
            CURLOPT_CONNECTTIMEOUT_MS => $millis,
            CURLOPT_HEADERFUNCTION => static function (CurlHandle $handle, string $line) use (&$head): int {
                $head = str_starts_with($line, 'HTTP/') ? $line : $head . $line;

                return strlen($line);
            },
            // Static, because a reference to $this would make a cycle: the handle would keep its connection until PHP
            // collects cycles.
            CURLOPT_WRITEFUNCTION => static function (CurlHandle $handle, string $part) use (&$body, $maxByteCount): int {
                $body .= $part;

                return strlen($body) <= $maxByteCount ? strlen($part) : -1;
            },
        ]);
        curl_exec($handle);

        return [$head, $body];
    }

    private function handle(): CurlHandle
    {
        $pid = getmypid();
        if ($this->handle !== null && $this->pid === $pid) {
            return $this->handle;
        }
        if ($this->handle !== null) {
            // The connection belongs to the parent, and destroying the handle would shut it down. (The end of this
            // process does so anyway: the parent then makes a new connection, by a retry.)
            self::$inherited[] = $this->handle;
        }
        $this->pid = $pid;

        return $this->handle = $this->connect();
    }

    private function connect(): CurlHandle
    {
        $handle = curl_init();
        $address = $this->endpoint->address;
        $tls = $this->endpoint->tls;
        $options = [
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_1_1,
            CURLOPT_POST => true,
            CURLOPT_PROTOCOLS => $tls === null ? CURLPROTO_HTTP : CURLPROTO_HTTPS,
            CURLOPT_PROXY => '', // none, even if the environment names one
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TCP_NODELAY => true,
            CURLOPT_BUFFERSIZE => self::BUFFER_BYTES,
            CURLOPT_USERAGENT => 'offbeat-php',
        ];
        if ($address->path !== null) {
            $options[CURLOPT_UNIX_SOCKET_PATH] = $address->path;
        }
        if ($tls !== null) {
            $options += self::tlsOptions($tls, $address);
        }
        if (defined('CURLOPT_MAXAGE_CONN')) { // PHP 8.2 and later
            $options[CURLOPT_MAXAGE_CONN] = self::KEEP_IDLE_SECONDS;
        }
        curl_setopt_array($handle, $options);

        return $handle;
    }

    /** @return array<int, mixed> */
    private static function tlsOptions(Tls $tls, Address $address): array
    {
        $options = [
            CURLOPT_SSLVERSION => CURL_SSLVERSION_TLSv1_2, // or later
            CURLOPT_CONNECT_TO => ["::$address->authority"], // the URL may have the name of the certificate instead
        ];
        if ($tls->ca !== null) {
            $options[CURLOPT_CAINFO] = $tls->ca;
            // libcurl would also trust the folder of the system. PHP cannot unset that folder; this one has no
            // certificates.
            $options[CURLOPT_CAPATH] = __DIR__;
        }
        if ($tls->certificate !== null) {
            $options[CURLOPT_SSLCERT] = $tls->certificate;
            $options[CURLOPT_SSLKEY] = $tls->key;
        }

        return $options;
    }

    private function checkConnection(CurlHandle $handle, int $length, float $timeout): void
    {
        $error = curl_errno($handle);
        if ($error === CURLE_OK) {
            return;
        }
        $where = $this->endpoint->address->text;
        throw match (true) {
            $error === CURLE_OPERATION_TIMEDOUT => new DeadlineExceeded(
                "$where: no complete answer within " . round($timeout, 3) . ' s',
            ),
            $length > $this->maxAnswerBytes => new ResourceExhausted(
                "$where: an answer of more than $this->maxAnswerBytes bytes",
            ),
            in_array($error, self::TLS_ERRORS, true) => $this->endpoint->untrusted(curl_error($handle)),
            default => $this->endpoint->unreachable(curl_error($handle)),
        };
    }

    /** The message of an answer. Throws the error if it is not one. */
    private function answer(CurlHandle $handle, string $body): string
    {
        $http = curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
        $type = (string) curl_getinfo($handle, CURLINFO_CONTENT_TYPE);
        if ($http === 200 && $type === 'application/proto') {
            return $body;
        }
        $error = $http !== 200 && str_starts_with($type, 'application/json') ? json_decode($body, true) : null;
        throw is_array($error) && isset($error['code'])
            ? ConnectError::exception($error)
            : new OffbeatException(
                "{$this->endpoint->address->text}: the answer is none of a sidecar (HTTP status $http, content type '$type')",
            );
    }
}
