<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use DateInterval;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\NamedSpread\Calls;
use Offbeat\Internal\NamedSpread\Messages;
use Offbeat\Internal\NamedSpread\Retries;
use Offbeat\Internal\NamedSpread\Service;
use Offbeat\Internal\Spread\ResumeToken;
use Offbeat\Internal\Transport\Conversation;
use Offbeat\NamedSpread\NamedSpread;
use Offbeat\NamedSpread\SpreadDescription;
use Offbeat\Spread\ShortagePolicy;
use Offbeat\Spread\Spread;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Times;
use Offbeat\V1;

/**
 * The client's spreads, of one call and named.
 *
 * @internal
 */
trait SpreadCalls
{
    /**
     * The jobs of groups, so that jobs of one group stay $feederCount turns apart: an iterable of
     * turns, with a certificate() when they have all been taken.
     *
     * Groups and jobs are pulled when they are needed. It has a connection of its own, by PHP's
     * sockets, with either transport.
     *
     * @param iterable<iterable<mixed>> $groups
     * @param ?int $maxOpenGroupCount SpreadPolicy::Cooldown only: how many groups are open at most
     * @param ?ShortagePolicy $onShortage SpreadPolicy::Cooldown only
     * @param ?int $jobWindow how many jobs of an open group are pulled ahead of their turns. Default: 256
     * @param ?int $groupWindow how many groups are pulled before a feeder needs them. Default: 0
     * @param int|float|null $timeout until the last turn, in seconds. Default: none
     *
     * @throws OffbeatException
     */
    public function spread(
        iterable $groups,
        int $feederCount,
        ?SpreadPolicy $policy = null,
        ?int $maxOpenGroupCount = null,
        ?ShortagePolicy $onShortage = null,
        ?int $jobWindow = null,
        ?int $groupWindow = null,
        int|float|null $timeout = null,
    ): Spread {
        $spec = (new V1\SpreadSpec())->setOrder(self::spreadOrder($feederCount, $policy, $maxOpenGroupCount));
        if ($onShortage !== null) {
            $spec->setOnShortage($onShortage->toMessage());
        }
        if ($jobWindow !== null) {
            $spec->setJobWindow(Check::int32('spec.job_window', $jobWindow));
        }
        if ($groupWindow !== null) {
            $spec->setGroupWindow(Check::int32('spec.group_window', $groupWindow));
        }
        $first = (new V1\SpreadRequest())->setSpec($spec);

        return $this->spreadFrom($groups, new ResumeToken($policy === SpreadPolicy::Cooldown, 0, $first), $timeout);
    }

    /**
     * Goes on with a spread behind the turns that were taken, by its `resumeToken()`.
     *
     * The groups must be the same, in the same order: they are pulled from the first on, and jobs that had their
     * turns are dropped. Other groups are refused before the first turn.
     *
     * @param iterable<iterable<mixed>> $groups
     * @param int|float|null $timeout until the last turn, in seconds. Default: none
     *
     * @throws OffbeatException
     */
    public function resumeSpread(iterable $groups, string $resumeToken, int|float|null $timeout = null): Spread
    {
        return $this->spreadFrom($groups, ResumeToken::parse($resumeToken), $timeout);
    }

    /**
     * A spread that outlives this process: producers submit groups, any number of consumers take
     * their jobs. Nothing connects yet; its first call opens the spread.
     *
     * All who open it must give the same parameters; what is left out is the sidecar's default.
     *
     * @param int $feederCount how many groups take turns: the workers of all consumers, and a few more
     * @param ?int $maxOpenGroupCount SpreadPolicy::Cooldown only: how many groups are open at most
     * @param DateInterval|int|float|null $leaseDuration how long a lease lasts, in seconds. Default: 30
     * @param ?int $maxAttemptCount leases of a job before it becomes a dead letter. Default: 5
     * @param ?int $maxConsumerLeaseCount how many jobs one consumer may hold at once. Default: 1,024
     * @param ?int $maxGroupCount how many groups there may be at once. Default: 65,536
     * @param ?int $maxJobCount how many jobs there may be at once. Default: 1,000,000
     * @param ?int $maxByteCount how many bytes of payloads there may be at once. Default: 64 MiB
     */
    public function namedSpread(
        string $name,
        int $feederCount,
        ?SpreadPolicy $policy = null,
        ?int $maxOpenGroupCount = null,
        DateInterval|int|float|null $leaseDuration = null,
        ?int $maxAttemptCount = null,
        ?int $maxConsumerLeaseCount = null,
        ?int $maxGroupCount = null,
        ?int $maxJobCount = null,
        ?int $maxByteCount = null,
    ): NamedSpread {
        $limits = Messages::limits('spec.limits', $maxAttemptCount, $maxConsumerLeaseCount, $maxGroupCount, $maxJobCount, $maxByteCount);
        $spec = (new V1\NamedSpreadSpec())
            ->setOrder(self::spreadOrder($feederCount, $policy, $maxOpenGroupCount))
            ->setLimits($limits);
        if ($leaseDuration !== null) {
            $spec->setLeaseDuration(Times::toDuration('spec.lease_duration', $leaseDuration));
        }

        return new NamedSpread(new Calls($this->namedSpreadService(), Check::utf8('spread_name', $name), $spec));
    }

    /**
     * The named spreads, by name: page by page, as they are taken.
     *
     * @return \Generator<int, SpreadDescription>
     *
     * @throws OffbeatException
     */
    public function listSpreads(): \Generator
    {
        $service = $this->namedSpreadService();
        $request = new V1\ListSpreadsRequest();
        do {
            $page = Retries::ofACall($this->timeout)->run(
                static fn (): V1\ListSpreadsResponse => $service->call('ListSpreads', $request, new V1\ListSpreadsResponse()),
            );
            foreach ($page->getSpreads() as $spread) {
                yield Messages::description($spread);
            }
            $request->setPageToken($page->getNextPageToken());
        } while ($request->getPageToken() !== '');
    }

    /** @param iterable<iterable<mixed>> $groups */
    private function spreadFrom(iterable $groups, ResumeToken $token, int|float|null $timeout): Spread
    {
        $seconds = $timeout === null ? null : Check::timeout('timeout', $timeout);
        $path = '/offbeat.v1.SpreadService/Spread';
        $this->requireSidecar('a spread');

        return new Spread($groups, $token, fn (): Conversation => new Conversation($this->endpoint, $path, $seconds));
    }

    private static function spreadOrder(int $feederCount, ?SpreadPolicy $policy, ?int $maxOpenGroupCount): V1\SpreadOrder
    {
        $order = (new V1\SpreadOrder())->setFeederCount(Check::int32('spec.order.feeder_count', $feederCount));
        if ($policy !== null) {
            $order->setPolicy($policy->toMessage());
        }
        if ($maxOpenGroupCount !== null) {
            $order->setMaxOpenGroupCount(Check::int32('spec.order.max_open_group_count', $maxOpenGroupCount));
        }

        return $order;
    }

    private function namedSpreadService(): Service
    {
        $this->requireSidecar('a named spread');

        return new Service($this->bare, $this->endpoint, $this->timeout);
    }
}
