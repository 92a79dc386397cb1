<?php

declare(strict_types=1);

namespace Offbeat\Lanes;

use DateInterval;
use Offbeat\Internal\Check;
use Offbeat\Internal\JsonAnswer;
use Offbeat\Times;
use Offbeat\V1;

/** A group of workers with one attempt timeout. */
final class Lane implements \JsonSerializable
{
    use JsonAnswer;

    public readonly DateInterval|int|float|null $attemptTimeout;

    /**
     * @param string $name unique among the lanes
     * @param int $workerCount at least one in the express lane and in the slow lane
     * @param DateInterval|int|float|null $attemptTimeout how long an attempt may run, in seconds: longer than in the
     *     lane before. Only the last lane may have none
     */
    public function __construct(
        public readonly string $name,
        public readonly int $workerCount,
        DateInterval|int|float|null $attemptTimeout = null,
    ) {
        $this->attemptTimeout = Times::copy($attemptTimeout);
    }

    /** @internal */
    public function toMessage(string $path): V1\Lane
    {
        $message = (new V1\Lane())
            ->setName(Check::utf8("$path.name", $this->name))
            ->setWorkerCount(Check::int32("$path.worker_count", $this->workerCount));
        if ($this->attemptTimeout !== null) {
            $message->setAttemptTimeout(Times::toDuration("$path.attempt_timeout", $this->attemptTimeout));
        }

        return $message;
    }

    /** @internal */
    public static function fromMessage(V1\Lane $message): self
    {
        $timeout = Times::fromOptional($message->getAttemptTimeout());

        return new self($message->getName(), $message->getWorkerCount(), $timeout);
    }
}
