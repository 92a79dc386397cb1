<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use Offbeat\Internal\Check;
use Offbeat\V1;

/** A job that waits for a worker. */
final class PendingJob
{
    /** @var list<string> */
    public readonly array $timedOutLaneNames;

    /**
     * @param string $id returned unchanged
     * @param array<string> $timedOutLaneNames the lanes whose timeout the job has exceeded, in any order
     * @param ?LanePrediction $prediction untried jobs are ordered by it, those that are least likely to be slow first.
     *     Default: a slow probability of 0
     */
    public function __construct(
        public readonly string $id,
        array $timedOutLaneNames = [],
        public readonly ?LanePrediction $prediction = null,
    ) {
        $this->timedOutLaneNames = array_values($timedOutLaneNames);
    }

    /** The same job, after it has exceeded the timeout of one more lane. */
    public function timedOutIn(string $lane): self
    {
        return new self($this->id, [...$this->timedOutLaneNames, $lane], $this->prediction);
    }

    /** @internal */
    public function toMessage(string $path): V1\PendingJob
    {
        $message = (new V1\PendingJob())
            ->setId(Check::utf8("$path.id", $this->id))
            ->setTimedOutLaneNames(self::lanes("$path.timed_out_lane_names", $this->timedOutLaneNames));
        if ($this->prediction !== null) {
            $message->setPrediction($this->prediction->toMessage("$path.prediction"));
        }

        return $message;
    }

    /**
     * @internal
     *
     * @param list<string> $lanes
     *
     * @return list<string>
     */
    public static function lanes(string $path, array $lanes): array
    {
        $checked = static fn (string $lane, int $place): string => Check::utf8("{$path}[$place]", $lane);

        return array_map($checked, $lanes, array_keys($lanes));
    }
}
