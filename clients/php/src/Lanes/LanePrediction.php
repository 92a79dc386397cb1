<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Times;
use Offbeat\V1;

/**
 * A prediction about a job before it runs: LanePrediction::slowProbability(0.9), or LanePrediction::runTime(120).
 */
final class LanePrediction
{
    private function __construct(
        private readonly ?float $slowProbability,
        private readonly DateInterval|int|float|null $runTime,
    ) {
    }

    /** The probability that the job exceeds the express lane's timeout: 0 to 1. */
    public static function slowProbability(float $probability): self
    {
        return new self($probability, null);
    }

    /**
     * How long the job will run, in seconds. If that is longer than the express lane's timeout, the job starts in the
     * first lane whose timeout it does not exceed.
     */
    public static function runTime(DateInterval|int|float $time): self
    {
        return new self(null, Times::copy($time));
    }

    /** @internal */
    public function toMessage(string $path): V1\LanePrediction
    {
        return $this->runTime === null
            ? (new V1\LanePrediction())->setSlowProbability($this->slowProbability)
            : (new V1\LanePrediction())->setRunTime(Times::toDuration("$path.run_time", $this->runTime));
    }
}
