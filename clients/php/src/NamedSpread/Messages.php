<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Spread\SpreadCertificate;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Times;
use Offbeat\V1;

/**
 * Protobuf messages, as values.
 *
 * @internal
 */
final class Messages
{
    public static function description(V1\SpreadDescription $message): SpreadDescription
    {
        return new SpreadDescription(
            spread: $message->getSpread(),
            spec: self::spec($message->getSpec()),
            state: SpreadState::fromMessage($message->getState()),
            epoch: (int) $message->getEpoch(),
            groupCount: (int) $message->getGroupCount(),
            partialGroupCount: (int) $message->getPartialGroupCount(),
            readyJobCount: (int) $message->getReadyJobCount(),
            quarantinedGroupCount: (int) $message->getQuarantinedGroupCount(),
            leasedJobCount: (int) $message->getLeasedJobCount(),
            returnedJobCount: (int) $message->getReturnedJobCount(),
            settledJobCount: (int) $message->getSettledJobCount(),
            deadLetterCount: (int) $message->getDeadLetterCount(),
            byteCount: (int) $message->getByteCount(),
            consumerCount: (int) $message->getConsumerCount(),
            certificate: SpreadCertificate::fromMessage($message->getCertificate()),
        );
    }

    public static function status(V1\GroupStatus $message): GroupStatus
    {
        $numbers = array_map('intval', iterator_to_array($message->getSettledRanges(), false));

        return new GroupStatus(
            groupId: $message->getGroupId(),
            state: GroupState::fromMessage($message->getState()),
            jobCount: (int) $message->getJobCount(),
            settledCount: (int) $message->getSettledCount(),
            deadLetterCount: (int) $message->getDeadLetterCount(),
            settledRanges: array_chunk($numbers, 2),
        );
    }

    public static function deadLetter(V1\DeadLetter $message): DeadLetter
    {
        return new DeadLetter(
            number: (int) $message->getNumber(),
            groupId: $message->getGroupId(),
            index: (int) $message->getIndex(),
            job: $message->getJob(),
            attemptCount: $message->getAttemptCount(),
            cause: DeadLetterCause::fromMessage($message->getCause()),
        );
    }

    /**
     * Jobs lent at one moment.
     *
     * @param float $deadline when the leases end, by Clock
     * @param ?Consumer $consumer who takes their verdicts
     *
     * @return list<LeasedJob>
     */
    public static function jobs(V1\LeasedJobs $message, float $deadline, ?Consumer $consumer): array
    {
        $epoch = (int) $message->getEpoch();
        $lease = self::lease($message);
        $jobs = [];
        foreach ($message->getJobs() as $job) {
            $jobs[] = new LeasedJob(
                groupId: $job->getGroupId(),
                index: (int) $job->getIndex(),
                sequence: (int) $job->getSequence(),
                attempt: $job->getAttempt(),
                epoch: $epoch,
                redelivered: $job->getRedelivered(),
                job: $job->getJob(),
                lease: $lease,
                deadline: $deadline,
                consumer: $consumer,
            );
        }

        return $jobs;
    }

    /** How long jobs are lent, in seconds. */
    public static function lease(V1\LeasedJobs $message): float
    {
        return (float) Times::seconds(Times::fromDuration($message->getLease()));
    }

    private static function spec(V1\NamedSpreadSpec $message): NamedSpreadSpec
    {
        return new NamedSpreadSpec(
            policy: SpreadPolicy::fromMessage($message->getPolicy()),
            feederCount: $message->getFeederCount(),
            maxOpenGroups: $message->hasMaxOpenGroups() ? $message->getMaxOpenGroups() : null,
            lease: Times::fromDuration($message->getLease()),
            maxAttempts: $message->getMaxAttempts(),
            maxConsumerLeases: $message->getMaxConsumerLeases(),
            maxGroups: $message->getMaxGroups(),
            maxJobs: $message->getMaxJobs(),
            maxBytes: (int) $message->getMaxBytes(),
        );
    }
}
