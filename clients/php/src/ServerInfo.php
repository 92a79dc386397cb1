<?php

declare(strict_types=1);

namespace Offbeat;

/** Description of a sidecar, for operators and for programs that check before they call. */
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
