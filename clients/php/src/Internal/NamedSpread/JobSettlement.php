<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Offbeat\Exception\InvalidArgument;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\LeaseToken;
use Offbeat\NamedSpread\SettleAction;
use Offbeat\Times;
use Offbeat\V1;

/**
 * What to do with a leased job.
 *
 * @internal
 */
final class JobSettlement
{
    private const MAX_DELAY_SECONDS = 86_400;

    public readonly V1\JobSettlement $message;

    /** @param \DateInterval|int|float $delay with SettleAction::Nack and SettleAction::Release only */
    public function __construct(
        public readonly LeasedJob|LeaseToken $job,
        public readonly SettleAction $action,
        \DateInterval|int|float $delay = 0,
    ) {
        $this->message = (new V1\JobSettlement())
            ->setSequence($job->sequence)
            ->setAttempt($job->attempt)
            ->setAction($action->toMessage());
        $millis = self::millis($delay);
        if ($millis > 0) {
            $this->message->setDelay(Times::toDuration('delay', $millis));
        }
    }

    /**
     * The first settlements, as many as one call takes: those of jobs of one epoch.
     *
     * @param non-empty-list<self> $settlements
     *
     * @return non-empty-list<self>
     */
    public static function batch(array $settlements): array
    {
        $epoch = $settlements[0]->job->epoch;
        $batch = [];
        foreach (array_slice($settlements, 0, Calls::MAX_JOBS) as $settlement) {
            if ($settlement->job->epoch !== $epoch) {
                break;
            }
            $batch[] = $settlement;
        }

        return $batch;
    }

    /**
     * Seconds, rounded to milliseconds. An invalid delay is refused here, because the sidecar would refuse all
     * settlements of its call.
     */
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
