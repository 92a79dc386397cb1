<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\Unavailable;
use Offbeat\Tls;

/**
 * Messages in both directions at the same time: the streaming form of the Connect protocol, over an HTTP/1.1 connection
 * of its own, with or without TLS, on PHP's own sockets.
 *
 * @internal
 */
final class Conversation
{
    use NotSerializable;

    private const MAX_MESSAGE_BYTES = 64 << 20;
    private const MAX_HEAD_BYTES = 64 << 10;
    private const READ_BYTES = 64 << 10;
    private const END_STREAM = 2;
    private const ENVELOPE_HEAD_BYTES = 5;

    /** @var resource */
    private $socket;
    private string $bytes = '';
    private string $messages = '';
    private bool $answered = false;
    /** The bytes of the body that are left, if its length is known, as with a refusal. */
    private ?int $length = null;
    private readonly ?float $deadline;
    private ?float $readDeadline = null;

    /**
     * @param ?float $timeout seconds until the last message must have arrived; null for no limit
     * @param ?float $connectTimeout seconds until the connection must be open; null for no other limit
     */
    public function __construct(
        private readonly Endpoint $endpoint,
        string $path,
        ?float $timeout,
        ?float $connectTimeout = null,
    ) {
        $this->deadline = $timeout === null ? null : self::now() + $timeout;
        $this->socket = $this->connect($connectTimeout ?? $this->left() ?? 1e8);
        stream_set_blocking($this->socket, false);
        $head = [
            "POST $path HTTP/1.1",
            "host: {$endpoint->authority()}",
            'content-type: application/connect+proto',
            'connect-protocol-version: 1',
            'transfer-encoding: chunked',
        ];
        if ($timeout !== null) {
            $head[] = 'connect-timeout-ms: ' . min((int) ceil(min($timeout, 1e7) * 1_000), 9_999_999_999);
        }
        $authorization = $endpoint->authorization();
        if ($authorization !== null) {
            $head[] = "authorization: $authorization";
        }
        $this->send(implode("\r\n", $head) . "\r\n\r\n");
    }

    /** Sends a message. */
    public function write(string $message): void
    {
        $envelope = pack('CN', 0, strlen($message)) . $message;
        $this->send(dechex(strlen($envelope)) . "\r\n$envelope\r\n");
    }

    /** Says that no messages follow. Messages of the sidecar may still arrive. */
    public function finish(): void
    {
        $this->send("0\r\n\r\n");
    }

    /**
     * The bytes of the next message; null when the sidecar has ended the stream.
     *
     * @param ?float $timeout seconds until it must have arrived; null for no other limit
     *
     * @throws OffbeatException the refusal of the sidecar, or the reason why no message has arrived
     */
    public function read(?float $timeout = null): ?string
    {
        $this->readDeadline = $timeout === null ? null : self::now() + $timeout;
        try {
            while (($envelope = $this->shiftEnvelope()) === null) {
                $this->dechunk() || $this->receive();
            }
        } finally {
            $this->readDeadline = null;
        }
        [$flags, $message] = $envelope;
        if ($flags !== self::END_STREAM) {
            return $message;
        }
        $error = json_decode($message, true)['error'] ?? null;
        if ($error !== null) {
            throw ConnectError::exception((array) $error);
        }

        return null;
    }

    public function close(): void
    {
        fclose($this->socket);
    }

    /** @return resource */
    private function connect(float $timeout)
    {
        $address = $this->endpoint->address;
        $tls = $this->endpoint->tls;
        $target = match (true) {
            $address->path !== null => "unix://$address->path",
            $tls !== null => "tls://$address->authority",
            default => "tcp://$address->authority",
        };
        $options = ['socket' => ['tcp_nodelay' => true]];
        if ($tls !== null) {
            $options['ssl'] = self::tlsOptions($tls, $address);
        }
        $warnings = [];
        set_error_handler(static function (int $level, string $warning) use (&$warnings): bool {
            $warnings[] = $warning; // the first one says what failed in TLS

            return true;
        });
        try {
            $context = stream_context_create($options);
            $socket = stream_socket_client($target, $code, $error, $timeout, context: $context);
        } finally {
            restore_error_handler();
        }
        if ($socket !== false) {
            return $socket;
        }
        $why = $error !== '' ? $error : $warnings[0] ?? '';
        throw $tls !== null && Endpoint::saysUntrusted($why) ? $this->endpoint->untrusted($why) : $this->lost($why);
    }

    /** @return array<string, mixed> */
    private static function tlsOptions(Tls $tls, Address $address): array
    {
        $options = [
            'peer_name' => $tls->serverName ?? $address->host,
            'crypto_method' => STREAM_CRYPTO_METHOD_TLSv1_2_CLIENT | STREAM_CRYPTO_METHOD_TLSv1_3_CLIENT,
            'alpn_protocols' => 'http/1.1',
        ];
        if ($tls->ca !== null) {
            // A folder without certificates, so that the folder of php.ini is not trusted too.
            $options += ['cafile' => $tls->ca, 'capath' => __DIR__];
        }
        if ($tls->certificate !== null) {
            $options += ['local_cert' => $tls->certificate, 'local_pk' => $tls->key];
        }

        return $options;
    }

    /** Reads while it cannot write: otherwise both sides could wait for each other. */
    private function send(#[\SensitiveParameter] string $bytes): void
    {
        while ($bytes !== '') {
            $written = @fwrite($this->socket, $bytes);
            if ($written === false) {
                throw $this->lastWord() ?? $this->lost('the connection broke off');
            }
            $bytes = substr($bytes, $written);
            if ($bytes !== '' && $this->wait(true)) {
                $this->receiveSome();
            }
        }
    }

    /** The refusal that the sidecar sent before it closed the connection; null if it sent none. */
    private function lastWord(): ?OffbeatException
    {
        try {
            while ($this->read() !== null) {
                // Messages that came before the end are of no use any more.
            }
        } catch (Unavailable) {
        } catch (OffbeatException $refused) {
            return $refused;
        }

        return null;
    }

    private function receive(): void
    {
        $this->wait(false);
        $this->receiveSome();
    }

    private function receiveSome(): void
    {
        error_clear_last();
        $part = @fread($this->socket, self::READ_BYTES);
        if ($part === false || ($part === '' && feof($this->socket))) {
            throw $this->lost(error_get_last()['message'] ?? 'the stream broke off');
        }
        $this->bytes .= $part;
    }

    /** Waits until the socket is ready. Returns whether there is something to read. */
    private function wait(bool $writing): bool
    {
        $left = $this->left() ?? 1e8;
        [$read, $write, $except] = [[$this->socket], $writing ? [$this->socket] : [], []];
        $ready = @stream_select($read, $write, $except, (int) $left, (int) (fmod($left, 1) * 1e6));
        if ($ready === 0) {
            throw $this->late();
        }

        return $read !== [];
    }

    /** Moves the part of the body that has arrived to the messages. Returns false if there is none. */
    private function dechunk(): bool
    {
        if (!$this->answered && !$this->readHead()) {
            return false;
        }
        if ($this->length !== null) {
            return $this->takeOfLength();
        }
        $line = strpos($this->bytes, "\r\n");
        if ($line === false && strlen($this->bytes) <= self::MAX_HEAD_BYTES) {
            return false;
        }
        $digits = substr($this->bytes, 0, $line === false ? 20 : $line);
        if (preg_match('/^[0-9a-f]{1,8}$/i', $digits) !== 1) {
            throw $this->nonsense($digits);
        }
        $size = (int) hexdec($digits);
        if ($size > self::MAX_MESSAGE_BYTES + self::ENVELOPE_HEAD_BYTES) {
            throw $this->nonsense("a chunk of $size bytes");
        }
        if ($size === 0) {
            throw $this->lost('the stream broke off');
        }
        if (strlen($this->bytes) < $line + $size + 4) {
            return false;
        }
        $this->messages .= substr($this->bytes, $line + 2, $size);
        $this->bytes = substr($this->bytes, $line + $size + 4);

        return true;
    }

    private function takeOfLength(): bool
    {
        if ($this->length === 0) {
            throw $this->lost('the stream broke off');
        }
        $part = substr($this->bytes, 0, $this->length);
        $this->messages .= $part;
        $this->bytes = substr($this->bytes, strlen($part));
        $this->length -= strlen($part);

        return $part !== '';
    }

    private function readHead(): bool
    {
        $end = strpos($this->bytes, "\r\n\r\n");
        if ($end === false) {
            return strlen($this->bytes) <= self::MAX_HEAD_BYTES ? false : throw $this->nonsense('an endless head');
        }
        $head = substr($this->bytes, 0, $end);
        $this->bytes = substr($this->bytes, $end + 4);
        $isOurs = preg_match('#^HTTP/1\.1 200 #', $head) === 1
            && preg_match('#^content-type: application/connect\+proto#im', $head) === 1;
        if (!$isOurs) {
            throw $this->nonsense(strtok($head, "\r\n") ?: '');
        }
        if (preg_match('#^content-length: *(\d{1,9}) *$#im', str_replace("\r", '', $head), $found) === 1) {
            $this->length = (int) $found[1];
        }

        return $this->answered = true;
    }

    /** @return ?array{int, string} */
    private function shiftEnvelope(): ?array
    {
        if (strlen($this->messages) < self::ENVELOPE_HEAD_BYTES) {
            return null;
        }
        ['flags' => $flags, 'length' => $length] = unpack('Cflags/Nlength', $this->messages);
        if ($length > self::MAX_MESSAGE_BYTES) {
            throw $this->nonsense("a message of $length bytes");
        }
        if (strlen($this->messages) < $length + self::ENVELOPE_HEAD_BYTES) {
            return null;
        }
        $message = substr($this->messages, self::ENVELOPE_HEAD_BYTES, $length);
        $this->messages = substr($this->messages, $length + self::ENVELOPE_HEAD_BYTES);

        return [$flags, $message];
    }

    private function left(): ?float
    {
        $deadline = min($this->deadline ?? INF, $this->readDeadline ?? INF);
        if ($deadline === INF) {
            return null;
        }
        $left = $deadline - self::now();

        return $left > 0 ? $left : throw $this->late();
    }

    private function late(): DeadlineExceeded
    {
        return new DeadlineExceeded("{$this->endpoint->address->text}: no complete answer in time");
    }

    private function lost(string $why): Unavailable
    {
        return $this->endpoint->unreachable($why);
    }

    private function nonsense(string $what): OffbeatException
    {
        return new OffbeatException("{$this->endpoint->address->text}: the answer is none of a sidecar ($what)");
    }

    private static function now(): float
    {
        return hrtime(true) / 1e9;
    }
}
