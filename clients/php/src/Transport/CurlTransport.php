<?php

declare(strict_types=1);

namespace Offbeat\Transport;

use CurlHandle;
use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Exception\Unavailable;
use Offbeat\Tls;

/**
 * gRPC by ext-curl: HTTP/2 with prior knowledge, over TCP, TLS or a Unix socket.
 *
 * Connects at the first call and keeps the connection for the next ones, where libcurl can.
 *
 * @internal
 */
final class CurlTransport implements Transport
{
    /** A batch of 65,536 IDs that are all refused, with what is wrong about each. */
    private const MAX_ANSWER_BYTES = 64 << 20;
    /** The sidecar closes idle connections after 60 s. */
    private const KEEP_IDLE_SECONDS = 30;
    private const LIBCURL_8_0 = 0x080000;
    private const BUFFER_BYTES = 256 << 10;
    /** 23 days: libcurl counts milliseconds in 32 bits on some systems. */
    private const MAX_TIMEOUT_SECONDS = 2_000_000;
    private const FRAME_HEAD_BYTES = 5;
    private const CURLE_HTTP2_STREAM = 92; // which PHP does not name
    private const TLS_ERRORS = [CURLE_SSL_CERTPROBLEM, CURLE_SSL_CACERT, CURLE_SSL_CACERT_BADFILE];
    /** What the sidecar takes: of the bulk methods, and of the others. */
    private const BULK_METHODS = ['SlotService/AssignSlots', 'NamedSpreadService/SubmitGroups'];
    private const MAX_BULK_BYTES = 4 << 20;
    private const MAX_QUESTION_BYTES = 256 << 10;

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
        return extension_loaded('curl') && (curl_version()['features'] & CURL_VERSION_HTTP2) !== 0;
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        return $this->message($this->exchange($method, pack('CN', 0, strlen($bytes)) . $bytes, $timeout));
    }

    /** The body of the answer to a body. */
    private function exchange(string $method, string $question, float $timeout): string
    {
        $headers = [];
        $body = '';
        $handle = $this->handle();
        $authorization = $this->endpoint->authorization();
        $scheme = $this->endpoint->tls === null ? 'http' : 'https';
        $millis = (int) ceil(min($timeout, self::MAX_TIMEOUT_SECONDS) * 1_000);
        curl_setopt_array($handle, [
            CURLOPT_URL => "$scheme://{$this->endpoint->authority()}/offbeat.v1.$method",
            CURLOPT_HTTPHEADER => [
                'content-type: application/grpc',
                'te: trailers',
                'grpc-accept-encoding: identity',
                "grpc-timeout: {$this->grpcTimeout($millis)}",
                'accept:',
                'expect:', // no waiting for a "100 Continue"
                ...($authorization === null ? [] : ["authorization: $authorization"]),
            ],
            CURLOPT_POSTFIELDS => $question,
            CURLOPT_TIMEOUT_MS => $millis,
            CURLOPT_CONNECTTIMEOUT_MS => $millis,
            CURLOPT_HEADERFUNCTION => static function (CurlHandle $handle, string $line) use (&$headers): int {
                // Trailers come here too.
                [$name, $value] = explode(':', $line, 2) + [1 => ''];
                $headers[strtolower($name)] = trim($value);

                return strlen($line);
            },
            CURLOPT_WRITEFUNCTION => function (CurlHandle $handle, string $part) use (&$body): int {
                $body .= $part;

                return strlen($body) <= $this->maxAnswerBytes ? strlen($part) : -1;
            },
        ]);
        curl_exec($handle);

        // A refusal can come before the question was taken, which then counts as an error.
        if (($headers['grpc-status'] ?? '0') === '0') {
            if (curl_errno($handle) === self::CURLE_HTTP2_STREAM && $question !== '') {
                $this->checkSize($method, strlen($question) - self::FRAME_HEAD_BYTES);
                $this->checkRefusal($method, $timeout - curl_getinfo($handle, CURLINFO_TOTAL_TIME));
            }
            $this->checkConnection($handle, strlen($body), $timeout);
        }
        $this->checkStatus($handle, $headers);

        return $body;
    }

    public function close(): void
    {
        if ($this->pid === getmypid()) {
            $this->handle = null;
        }
    }

    private function handle(): CurlHandle
    {
        $pid = getmypid();
        if ($this->handle !== null && $this->pid === $pid) {
            return $this->handle;
        }
        if ($this->handle !== null) {
            // The connection is the parent's: destroying the handle would say goodbye on it. (As the
            // end of this process will: the parent then makes a new one, by a retry.)
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
            CURLOPT_HTTP_VERSION => CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE,
            CURLOPT_POST => true,
            CURLOPT_PROTOCOLS => $tls === null ? CURLPROTO_HTTP : CURLPROTO_HTTPS,
            CURLOPT_PROXY => '', // none, whatever the environment says
            CURLOPT_NOSIGNAL => true,
            CURLOPT_TCP_NODELAY => true,
            CURLOPT_USERAGENT => 'offbeat-php',
        ];
        if ($address->path !== null) {
            $options[CURLOPT_UNIX_SOCKET_PATH] = $address->path;
        }
        if ($tls !== null) {
            $options += self::tlsOptions($tls, $address);
        }
        $isOld = curl_version()['version_number'] < self::LIBCURL_8_0;
        if ($isOld) {
            // It reads 32 KiB at a time, and what does not fit here waits for a timer of 200 ms.
            $options[CURLOPT_BUFFERSIZE] = self::BUFFER_BYTES;
        }
        if ($isOld && $tls === null) {
            // It fails every second call on such a connection (curl issue 10634), but for TLS.
            $options[CURLOPT_FORBID_REUSE] = true;
        } elseif (defined('CURLOPT_MAXAGE_CONN')) { // PHP 8.2
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
            CURLOPT_CONNECT_TO => ["::$address->authority"], // whatever name is in the URL
        ];
        if ($tls->ca !== null) {
            $options[CURLOPT_CAINFO] = $tls->ca;
            // libcurl would go on to trust a folder of the system's. PHP cannot say that there is
            // none, and in this one there are no certificates.
            $options[CURLOPT_CAPATH] = __DIR__;
        }
        if ($tls->certificate !== null) {
            $options[CURLOPT_SSLCERT] = $tls->certificate;
            $options[CURLOPT_SSLKEY] = $tls->key;
        }

        return $options;
    }

    /** At most 8 digits and a unit. */
    private function grpcTimeout(int $millis): string
    {
        return $millis <= 99_999_999 ? "{$millis}m" : intdiv($millis, 1_000) . 'S';
    }

    /** Before 8.0, libcurl does not pass on the refusal of a question that it has not sent whole. */
    private function checkSize(string $method, int $length): void
    {
        $limit = in_array($method, self::BULK_METHODS, true) ? self::MAX_BULK_BYTES : self::MAX_QUESTION_BYTES;
        if ($length > $limit) {
            $allowed = "must be 0 to $limit bytes";
            throw new ResourceExhausted(
                "message: $length bytes is refused: $allowed",
                reason: 'ERROR_REASON_MESSAGE_TOO_LARGE',
                field: 'message',
                value: "$length bytes",
                allowed: $allowed,
            );
        }
    }

    /**
     * Nor any other one that comes so early, such as that of our token. Where there is nothing to be
     * sent it hears them; else such a question is refused for that, without a reason.
     */
    private function checkRefusal(string $method, float $timeout): void
    {
        try {
            (new self($this->endpoint))->exchange($method, '', max($timeout, 0.001));
        } catch (OffbeatException $why) {
            if ($why->reason !== '') {
                throw $why;
            }
        }
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

    /** @param array<string, string> $headers */
    private function checkStatus(CurlHandle $handle, array $headers): void
    {
        $where = $this->endpoint->address->text;
        $http = curl_getinfo($handle, CURLINFO_RESPONSE_CODE);
        $type = $headers['content-type'] ?? '';
        if ($http !== 200 || !preg_match('#^application/grpc($|[+;])#', $type)) {
            throw new OffbeatException("$where: the answer is none of a sidecar (HTTP status $http, content type '$type')");
        }
        $code = $headers['grpc-status'] ?? throw new Unavailable("$where: the answer broke off");
        if ($code !== (string) Status::OK) {
            throw Status::exception(
                (int) $code,
                rawurldecode($headers['grpc-message'] ?? ''),
                (string) base64_decode($headers['grpc-status-details-bin'] ?? ''),
            );
        }
    }

    /** The one message of the body, which is one frame, not compressed, and whole. */
    private function message(string $body): string
    {
        $head = strlen($body) < self::FRAME_HEAD_BYTES ? false : unpack('Ccompressed/Nlength', $body);
        if ($head === false || $head['compressed'] !== 0 || $head['length'] !== strlen($body) - self::FRAME_HEAD_BYTES) {
            throw new OffbeatException("{$this->endpoint->address->text}: the answer is none of a sidecar (no single gRPC message)");
        }

        return substr($body, self::FRAME_HEAD_BYTES);
    }
}
