<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Times;
use Offbeat\V1;

/**
 * A job and how it went.
 *
 * @internal
 */
final class JobVerdict
{
    private const MAX_DELAY_SECONDS = 86_400;

    public readonly V1\JobVerdict $message;

    public function __construct(
        public readonly LeasedJob $job,
        public readonly Verdict $verdict,
        \DateInterval|int|float $delay = 0,
    ) {
        $this->message = (new V1\JobVerdict())
            ->setSequence($job->sequence)
            ->setAttempt($job->attempt)
            ->setVerdict($verdict->toMessage());
        if ($verdict === Verdict::Nack) {
            $this->message->setDelay(Times::toDuration('delay', self::millis($delay)));
        }
    }

    /**
     * As many as go into a call, all of one epoch, from the first on.
     *
     * @param non-empty-list<self> $verdicts
     *
     * @return non-empty-list<self>
     */
    public static function batch(array $verdicts): array
    {
        $epoch = $verdicts[0]->job->epoch;
        $batch = [];
        foreach (array_slice($verdicts, 0, Calls::MAX_JOBS) as $verdict) {
            if ($verdict->job->epoch !== $epoch) {
                break;
            }
            $batch[] = $verdict;
        }

        return $batch;
    }

    /** Seconds, to the millisecond. Refused here, or it would hold up the verdicts that go with it. */
    private static function millis(\DateInterval|int|float $delay): float
    {
        $seconds = Calls::seconds($delay);
        if (!($seconds >= 0 && $seconds <= self::MAX_DELAY_SECONDS)) {
            $allowed = 'must be 0 s to 86400 s';
            throw InvalidArgument::refused('delay', $delay, $allowed, 'ERROR_REASON_OUT_OF_RANGE');
        }

        return round($seconds, 3);
    }
}
