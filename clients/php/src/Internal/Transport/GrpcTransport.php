<?php

declare(strict_types=1);

namespace Offbeat\Internal\Transport;

use Offbeat\Exception\OffbeatException;

/**
 * gRPC over ext-grpc. It needs only the extension, none of its PHP classes.
 *
 * @internal
 */
final class GrpcTransport implements Transport
{
    use NotSerializable;

    /** Enough for a batch of 65,536 IDs that are all refused, with an error for each. */
    private const MAX_ANSWER_BYTES = 64 << 20;
    private const MAX_TIMEOUT_SECONDS = 2_000_000;

    private ?\Grpc\Channel $channel = null;
    private bool $fresh = false;

    public function __construct(
        private readonly Endpoint $endpoint,
        private readonly int $maxAnswerBytes = self::MAX_ANSWER_BYTES,
    ) {
    }

    public static function isUsable(): bool
    {
        return extension_loaded('grpc');
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        $this->channel ??= $this->connect();
        $authorization = $this->endpoint->authorization();
        $deadline = \Grpc\Timeval::now()->add(
            new \Grpc\Timeval((int) ceil(min($timeout, self::MAX_TIMEOUT_SECONDS) * 1_000_000)),
        );
        $call = new \Grpc\Call($this->channel, "/$method", $deadline);
        $event = $call->startBatch([
            \Grpc\OP_SEND_INITIAL_METADATA => $authorization === null ? [] : ['authorization' => [$authorization]],
            \Grpc\OP_SEND_MESSAGE => ['message' => $bytes],
            \Grpc\OP_SEND_CLOSE_FROM_CLIENT => true,
            \Grpc\OP_RECV_INITIAL_METADATA => true,
            \Grpc\OP_RECV_MESSAGE => true,
            \Grpc\OP_RECV_STATUS_ON_CLIENT => true,
        ]);

        return $this->answer($event->status, $event->message);
    }

    public function close(): void
    {
        $this->channel?->close();
        $this->channel = null;
    }

    private function connect(): \Grpc\Channel
    {
        $address = $this->endpoint->address;
        $tls = $this->endpoint->tls;
        $options = [
            'credentials' => $tls === null
                ? \Grpc\ChannelCredentials::createInsecure()
                : \Grpc\ChannelCredentials::createSsl($tls->contents('ca'), $tls->contents('key'), $tls->contents('certificate')),
            'grpc.primary_user_agent' => 'offbeat-php',
            'grpc.max_receive_message_length' => $this->maxAnswerBytes,
            'grpc.enable_http_proxy' => 0,
            'grpc.enable_retries' => 0, // RetryingTransport retries, within the deadline
            'force_new' => $this->fresh,
            'grpc.use_local_subchannel_pool' => 1, // otherwise a new channel would share the backoff of the old one
        ];
        if ($address->path !== null) {
            // ext-grpc would send the socket's path as the authority, which HTTP/2 servers refuse.
            $options['grpc.default_authority'] = $address->authority;
        }
        if ($tls?->serverName !== null) {
            $options['grpc.ssl_target_name_override'] = $tls->serverName;
            $options['grpc.default_authority'] = $this->endpoint->authority();
        }
        $target = $address->path === null ? $address->text : "unix:$address->path";

        return new \Grpc\Channel($target, $options);
    }

    private function answer(object $status, ?string $message): string
    {
        $where = $this->endpoint->address->text;
        if ($status->code === Status::OK) {
            return $message ?? throw new OffbeatException("$where: the answer is none of a sidecar");
        }
        if ($status->code === Status::UNAVAILABLE) {
            // For a while, this channel would not try to connect again, and the extension would return it for the next
            // request of a channel too.
            $this->close();
            $this->fresh = true;
        }
        $details = $status->metadata['grpc-status-details-bin'][0] ?? '';
        if ($status->code === Status::UNAVAILABLE && $details === '') {
            // A text of ext-grpc itself, about the connection and not about the request.
            throw $this->endpoint->tls !== null && Endpoint::saysUntrusted($status->details)
                ? $this->endpoint->untrusted($status->details)
                : $this->endpoint->unreachable($status->details);
        }
        $text = $details !== '' ? $status->details : "$where: " . match ($status->code) {
            Status::DEADLINE_EXCEEDED => 'no complete answer in time',
            default => "gRPC code $status->code",
        } . " ($status->details)";

        throw Status::exception($status->code, $text, $details);
    }
}
