<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\Transport\Conversation;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Internal\Transport\Transport;

/**
 * Calls of NamedSpreadService. Each is sent once, because the caller must know whether an earlier attempt may have been
 * received.
 *
 * @internal
 */
final class Service
{
    public function __construct(
        private readonly Transport $transport,
        private readonly Endpoint $endpoint,
        public readonly float $timeout,
    ) {
    }

    /**
     * @template T of Message
     *
     * @param T $response
     * @param float $wait how long the sidecar may wait before it answers, in seconds
     *
     * @return T
     *
     * @throws OffbeatException
     */
    public function call(string $method, Message $request, Message $response, float $wait = 0): Message
    {
        $bytes = $this->transport->call(
            "offbeat.v1.NamedSpreadService/$method",
            $request->serializeToString(),
            $this->timeout + max(0.0, $wait),
        );

        return $this->read($bytes, $response);
    }

    /** @throws OffbeatException */
    public function stream(): Conversation
    {
        return new Conversation($this->endpoint, '/offbeat.v1.NamedSpreadService/StreamJobs', null, $this->timeout);
    }

    /**
     * @template T of Message
     *
     * @param T $message
     *
     * @return T
     */
    public function read(string $bytes, Message $message): Message
    {
        try {
            $message->mergeFromString($bytes);
        } catch (\Exception $malformed) {
            throw new OffbeatException("{$this->endpoint->address->text}: the answer is none of a sidecar", previous: $malformed);
        }

        return $message;
    }
}
