<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\V1;

/**
 * Lanes, fastest first, and the rule by which they take jobs. null stands for the sidecar's default.
 *
 *     new LaneSet([new Lane('express', 2, attemptTimeout: 60), new Lane('slow', 2, attemptTimeout: 900)])
 *
 * The sidecar checks the values.
 */
final class LaneSet
{
    /** @var list<Lane> */
    public readonly array $lanes;

    /**
     * @param array<Lane> $lanes fastest first: the express lane, any others, the slow lane
     * @param ?LanePolicy $policy LanePolicy::ExpressFirst by default
     * @param ?TimeoutAction $onTimeout TimeoutAction::Abort by default
     * @param ?float $maxExpressSlowProbability an untried job with a higher slow probability does not start in the
     *     express lane. Default: 1, which excludes no job
     */
    public function __construct(
        array $lanes,
        public readonly ?LanePolicy $policy = null,
        public readonly ?TimeoutAction $onTimeout = null,
        public readonly ?float $maxExpressSlowProbability = null,
    ) {
        $this->lanes = array_values($lanes);
    }

    /** @internal */
    public function toMessage(): V1\LaneSet
    {
        $lane = static fn (Lane $lane, int $place): V1\Lane => $lane->toMessage("lane_set.lanes[$place]");
        $message = (new V1\LaneSet())
            ->setLanes(array_map($lane, $this->lanes, array_keys($this->lanes)))
            ->setPolicy($this->policy?->toMessage() ?? V1\LanePolicy::LANE_POLICY_UNSPECIFIED)
            ->setOnTimeout($this->onTimeout?->toMessage() ?? V1\TimeoutAction::TIMEOUT_ACTION_UNSPECIFIED);
        if ($this->maxExpressSlowProbability !== null) {
            $message->setMaxExpressSlowProbability($this->maxExpressSlowProbability);
        }

        return $message;
    }

    /** @internal */
    public static function fromMessage(V1\LaneSet $message): self
    {
        return new self(
            lanes: array_map(Lane::fromMessage(...), iterator_to_array($message->getLanes(), false)),
            policy: LanePolicy::fromMessage($message->getPolicy()),
            onTimeout: TimeoutAction::fromMessage($message->getOnTimeout()),
            maxExpressSlowProbability: $message->hasMaxExpressSlowProbability()
                ? $message->getMaxExpressSlowProbability()
                : null,
        );
    }
}
