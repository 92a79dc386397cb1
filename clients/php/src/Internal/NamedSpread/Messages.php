<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Offbeat\Internal\Clock;
use Offbeat\Internal\Check;
use Offbeat\NamedSpread\Consumer;
use Offbeat\NamedSpread\DeadLetter;
use Offbeat\NamedSpread\DeadLetterCause;
use Offbeat\NamedSpread\GroupState;
use Offbeat\NamedSpread\GroupStatus;
use Offbeat\NamedSpread\LeasedJob;
use Offbeat\NamedSpread\NamedSpreadSpec;
use Offbeat\NamedSpread\SpreadCounts;
use Offbeat\NamedSpread\SpreadDescription;
use Offbeat\NamedSpread\SpreadLimits;
use Offbeat\NamedSpread\SpreadState;
use Offbeat\Spread\SpreadCertificate;
use Offbeat\Spread\SpreadOrder;
use Offbeat\Spread\SpreadPolicy;
use Offbeat\Times;
use Offbeat\V1;

/**
 * Converts protobuf messages to values.
 *
 * @internal
 */
final class Messages
{
    public static function description(V1\SpreadDescription $message): SpreadDescription
    {
        return new SpreadDescription(
            spreadName: $message->getSpreadName(),
            spec: self::spec($message->getSpec()),
            state: SpreadState::fromMessage($message->getState()),
            epoch: (int) $message->getEpoch(),
            counts: self::counts($message->getCounts()),
            certificate: SpreadCertificate::fromMessage($message->getCertificate()),
        );
    }

    public static function status(V1\GroupStatus $message): GroupStatus
    {
        $range = static fn (V1\IndexRange $range): array => [(int) $range->getStartIndex(), (int) $range->getEndIndex()];

        return new GroupStatus(
            groupId: $message->getGroupId(),
            state: GroupState::fromMessage($message->getState()),
            jobCount: (int) $message->getJobCount(),
            settledJobCount: (int) $message->getSettledJobCount(),
            deadLetterCount: (int) $message->getDeadLetterCount(),
            settledRanges: array_map($range, iterator_to_array($message->getSettledRanges(), false)),
        );
    }

    /** @param int $epoch the epoch of the page that lists it */
    public static function deadLetter(V1\DeadLetter $message, int $epoch): DeadLetter
    {
        return new DeadLetter(
            number: (int) $message->getNumber(),
            epoch: $epoch,
            groupId: $message->getGroupId(),
            jobIndex: (int) $message->getJobIndex(),
            payload: $message->getPayload(),
            attemptCount: $message->getAttemptCount(),
            cause: DeadLetterCause::fromMessage($message->getCause()),
        );
    }

    /**
     * Jobs that were leased at one moment.
     *
     * @param float $deadline when the leases end, by Clock
     * @param ?Consumer $consumer the consumer that settles the jobs
     *
     * @return list<LeasedJob>
     */
    public static function jobs(V1\LeasedJobs $message, float $deadline, ?Consumer $consumer): array
    {
        $epoch = (int) $message->getEpoch();
        $lease = self::lease($message);
        $endTime = Times::fromTimestamp($message->getLeaseEndTime());
        $jobs = [];
        foreach ($message->getJobs() as $job) {
            $jobs[] = new LeasedJob(
                groupId: $job->getGroupId(),
                jobIndex: (int) $job->getJobIndex(),
                sequence: (int) $job->getSequence(),
                attempt: $job->getAttempt(),
                epoch: $epoch,
                redelivered: $job->getRedelivered(),
                payload: $job->getPayload(),
                lease: $lease,
                leaseEndTime: $endTime,
                deadline: $deadline,
                consumer: $consumer,
            );
        }

        return $jobs;
    }

    /** How long the leases last, in seconds. */
    public static function lease(V1\LeasedJobs $message): float
    {
        return (float) Times::seconds(Times::fromDuration($message->getLeaseDuration()));
    }

    /** The limits that are not null, as a message. */
    public static function limits(
        string $field,
        ?int $maxAttemptCount,
        ?int $maxConsumerLeaseCount,
        ?int $maxGroupCount,
        ?int $maxJobCount,
        ?int $maxByteCount,
    ): V1\SpreadLimits {
        $message = new V1\SpreadLimits();
        if ($maxAttemptCount !== null) {
            $message->setMaxAttemptCount(Check::int32("$field.max_attempt_count", $maxAttemptCount));
        }
        if ($maxConsumerLeaseCount !== null) {
            $message->setMaxConsumerLeaseCount(Check::int32("$field.max_consumer_lease_count", $maxConsumerLeaseCount));
        }
        if ($maxGroupCount !== null) {
            $message->setMaxGroupCount(Check::int32("$field.max_group_count", $maxGroupCount));
        }
        if ($maxJobCount !== null) {
            $message->setMaxJobCount(Check::int32("$field.max_job_count", $maxJobCount));
        }
        if ($maxByteCount !== null) {
            $message->setMaxByteCount($maxByteCount);
        }

        return $message;
    }

    private static function counts(V1\SpreadCounts $message): SpreadCounts
    {
        return new SpreadCounts(
            groupCount: (int) $message->getGroupCount(),
            partialGroupCount: (int) $message->getPartialGroupCount(),
            quarantinedGroupCount: (int) $message->getQuarantinedGroupCount(),
            readyJobCount: (int) $message->getReadyJobCount(),
            leasedJobCount: (int) $message->getLeasedJobCount(),
            returnedJobCount: (int) $message->getReturnedJobCount(),
            settledJobCount: (int) $message->getSettledJobCount(),
            deadLetterCount: (int) $message->getDeadLetterCount(),
            byteCount: (int) $message->getByteCount(),
            consumerCount: (int) $message->getConsumerCount(),
        );
    }

    private static function spec(V1\NamedSpreadSpec $message): NamedSpreadSpec
    {
        $order = $message->getOrder();
        $limits = $message->getLimits();

        return new NamedSpreadSpec(
            order: new SpreadOrder(
                policy: SpreadPolicy::fromMessage($order->getPolicy()),
                feederCount: $order->getFeederCount(),
                maxOpenGroupCount: $order->hasMaxOpenGroupCount() ? $order->getMaxOpenGroupCount() : null,
            ),
            leaseDuration: Times::fromDuration($message->getLeaseDuration()),
            limits: new SpreadLimits(
                maxAttemptCount: $limits->getMaxAttemptCount(),
                maxConsumerLeaseCount: $limits->getMaxConsumerLeaseCount(),
                maxGroupCount: $limits->getMaxGroupCount(),
                maxJobCount: $limits->getMaxJobCount(),
                maxByteCount: (int) $limits->getMaxByteCount(),
            ),
        );
    }
}
