<?php

declare(strict_types=1);

namespace Offbeat\Tests;

use Offbeat\Internal\NamedSpread\Calls;
use Offbeat\Internal\NamedSpread\Service;
use Offbeat\Internal\Transport\CurlTransport;
use Offbeat\Internal\Transport\Endpoint;
use Offbeat\Internal\Transport\Transport;
use Offbeat\NamedSpread\NamedSpread;
use Offbeat\V1;

/** A transport whose requests a test can read, and whose answers it can lose. */
final class FlakyTransport implements Transport
{
    /** @var list<array{string, string}> methods and messages, as they were sent */
    public array $sent = [];
    /** @var ?\Closure(string): void called with the method before it is sent */
    public ?\Closure $before = null;
    /** @var ?\Closure(string): void called with the method before its answer is returned */
    public ?\Closure $after = null;
    private readonly Transport $transport;

    public function __construct(private readonly string $address)
    {
        $this->transport = new CurlTransport(Endpoint::of($address));
    }

    public function call(string $method, string $bytes, float $timeout): string
    {
        $method = substr($method, strrpos($method, '/') + 1);
        $this->before?->__invoke($method);
        $this->sent[] = [$method, $bytes];
        $answer = $this->transport->call("offbeat.v1.NamedSpreadService/$method", $bytes, $timeout);
        $this->after?->__invoke($method);

        return $answer;
    }

    public function close(): void
    {
        $this->transport->close();
    }

    public function spread(string $name, ?V1\NamedSpreadSpec $spec = null): NamedSpread
    {
        $spec ??= self::spec();

        return new NamedSpread(new Calls(new Service($this, Endpoint::of($this->address), 5.0), $name, $spec));
    }

    /** Two feeders, otherwise the defaults. */
    public static function spec(): V1\NamedSpreadSpec
    {
        return (new V1\NamedSpreadSpec())->setOrder((new V1\SpreadOrder())->setFeederCount(2));
    }

    /** @return list<V1\GroupPart> all parts that were submitted */
    public function parts(): array
    {
        $parts = [];
        foreach ($this->sent as [$method, $bytes]) {
            if ($method === 'SubmitGroups') {
                $request = new V1\SubmitGroupsRequest();
                $request->mergeFromString($bytes);
                $parts[] = $request->getGroups()[0];
            }
        }

        return $parts;
    }
}
