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
 * The client's calls for spreads: those of one call, and named ones.
 *
 * @internal
 */
trait SpreadCalls
{
    /**
     * Spreads the jobs of groups, so that jobs of one group stay $feederCount turns apart: an iterable of turns, which
     * has a certificate() once all of them have been taken.
     *
     * Groups and jobs are pulled when they are needed. A spread has a connection of its own, over PHP's sockets, with
     * either transport.
     *
     * @param iterable<iterable<mixed>> $groups
     * @param ?int $maxOpenGroupCount with SpreadPolicy::Cooldown only: the most groups that are open at once. Default:
     *     1,024, or $feederCount if that is more
     * @param ?ShortagePolicy $onShortage with SpreadPolicy::Cooldown only. Default: ShortagePolicy::Emit
     * @param ?int $jobWindow how many jobs of each open group are pulled ahead. Default: 256
     * @param ?int $groupWindow how many groups are pulled before a feeder needs them. Default: 0
     * @param int|float|null $timeout seconds until the last turn. Default: no limit
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
     * Continues a spread after the turns that were taken, by its `resumeToken()`.
     *
     * The groups must be the same, in the same order: they are pulled from the first one on, and jobs that had their
     * turn are discarded. Other groups are refused (FailedPrecondition) before the first new turn.
     *
     * @param iterable<iterable<mixed>> $groups
     * @param int|float|null $timeout seconds until the last turn. Default: no limit
     *
     * @throws OffbeatException
     */
    public function resumeSpread(iterable $groups, string $resumeToken, int|float|null $timeout = null): Spread
    {
        return $this->spreadFrom($groups, ResumeToken::parse($resumeToken), $timeout);
    }

    /**
     * A spread that outlives this process: producers submit groups, and any number of consumers pull their jobs. This
     * makes no connection: the first call opens the spread.
     *
     * All processes that open it must give the same parameters. null stands for the sidecar's default.
     *
     * @param int $feederCount how many groups take turns: a few more than the workers of all consumers is a good value
     * @param ?int $maxOpenGroupCount with SpreadPolicy::Cooldown only: the most groups that are open at once
     * @param DateInterval|int|float|null $leaseDuration how long a lease lasts, in seconds. Default: 30
     * @param ?int $maxAttemptCount leases of a job before it becomes a dead letter. Default: 5
     * @param ?int $maxConsumerLeaseCount jobs that one consumer may hold at once. Default: 1,024
     * @param ?int $maxGroupCount groups at once. Default: 65,536
     * @param ?int $maxJobCount jobs at once, dead letters included. Default: 1,000,000
     * @param ?int $maxByteCount bytes of payloads at once, dead letters included. Default: 64 MiB
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
     * The named spreads, by name: a generator that fetches pages on demand.
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
