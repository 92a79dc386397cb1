<?php

declare(strict_types=1);

namespace Offbeat;

/** What a sidecar is, for those who operate it and for programs that check before they ask. */
final class ServerInfo
{
    /**
     * @param string $version such as "0.1.0"
     * @param string $timeZoneDatabase the release of the IANA time-zone database that is built in, such as "2026b"
     * @param list<ServerLimit> $limits
     */
    public function __construct(
        public readonly string $version,
        public readonly string $timeZoneDatabase,
        public readonly array $limits,
    ) {
    }

    /** @internal */
    public static function fromMessage(V1\GetServerInfoResponse $message): self
    {
        return new self(
            version: $message->getVersion(),
            timeZoneDatabase: $message->getTimeZoneDatabase(),
            limits: array_map(ServerLimit::fromMessage(...), iterator_to_array($message->getLimits(), false)),
        );
    }
}
