<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Exception\DeadlineExceeded;
use Offbeat\Exception\FailedPrecondition;
use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\NotFound;
use Offbeat\Exception\OffbeatException;
use Offbeat\Exception\ResourceExhausted;
use Offbeat\Internal\Check;
use Offbeat\Internal\Clock;
use Offbeat\Internal\NamedSpread\Calls;
use Offbeat\Internal\NamedSpread\Group;
use Offbeat\Internal\NamedSpread\Messages;
use Offbeat\Internal\NamedSpread\Retries;
use Offbeat\Times;
use Offbeat\V1;

/**
 * Submits groups, and keeps each group until it is settled: if a restart of the sidecar loses the group, the producer
 * submits it again.
 */
final class Producer
{
    private const MAX_IDS = 4_096;
    private const MAX_IDS_BYTES = 128 << 10;
    private const WAIT_SECONDS = 1.0;

    /** @var array<Group> those that are not settled, by ID */
    private array $groups = [];
    /** @var array<GroupStatus> those that were settled since the last wait(), by ID */
    private array $settled = [];
    /** The epoch of the spread, as of the last answer. */
    private ?int $epoch = null;
    private bool $hasLost = false;

    /** @internal */
    public function __construct(private readonly Calls $calls, private readonly Retries $retries)
    {
    }

    /**
     * Submits a group. Returns once the sidecar has received it.
     *
     * If the sidecar may have received the group despite an error, or is full (ResourceExhausted), the group stays
     * among the unsettled ones, and wait() submits it again if necessary. After any other refusal it does not.
     *
     * @param string $groupId 1 to 256 bytes of UTF-8
     * @param array<string> $payloads one for each job: any bytes, up to 256 KiB
     *
     * @throws OffbeatException
     */
    public function submit(string $groupId, array $payloads): GroupStatus
    {
        $group = new Group($groupId, $payloads);
        $known = $this->groups[$groupId] ?? null;
        if ($known !== null && $known->sha256 !== $group->sha256) {
            throw self::differs($groupId);
        }
        $group = $this->groups[$groupId] = $known ?? $group;
        try {
            $status = $this->send($group);
        } catch (OffbeatException $refused) {
            // Groups that did not fit are kept, like those that may have been received.
            $isKept = $group->isUncertain || $refused instanceof ResourceExhausted;
            if ($known === null && !$isKept) {
                unset($this->groups[$groupId]);
            }
            throw $refused;
        }
        $this->sendLost();

        return $status;
    }

    /**
     * Waits until all submitted groups are settled, and submits lost groups again.
     *
     * @return array<string, GroupStatus> the groups that were settled since the last wait, by ID;
     *     an array turns the key '42' into the integer 42
     *
     * @throws DeadlineExceeded if that takes longer than the timeout, in seconds; nothing is forgotten
     * @throws OffbeatException
     */
    public function wait(int|float|null $timeout = null): array
    {
        $deadline = $timeout === null ? INF : Clock::now() + Check::timeout('timeout', $timeout);
        while ($this->groups !== []) {
            foreach ($this->batches() as $groups) {
                $this->look($groups, $deadline);
            }
            if ($this->groups !== [] && Clock::now() >= $deadline) {
                $count = count($this->groups);
                throw new DeadlineExceeded("$count groups are not settled within $timeout s");
            }
        }
        [$settled, $this->settled] = [$this->settled, []];

        return $settled;
    }

    /**
     * The IDs of the groups that are not known to be settled.
     *
     * @return list<string>
     */
    public function unsettled(): array
    {
        return array_column($this->groups, 'id');
    }

    /** Submits a group, for the first time or again. */
    private function send(Group $group, float $deadline = INF): GroupStatus
    {
        $group->firstReceipt ??= $this->retries->run($this->calls->receipt(...), $deadline);
        $openings = 0;
        for ($part = 0; $part < $group->partCount();) {
            try {
                $response = $this->retries->run(fn () => $this->attempt($group, $part), $deadline);
                $openings = 0;
                ++$part;
            } catch (NotFound $unknown) {
                if ($openings === Calls::OPENINGS) {
                    throw $unknown;
                }
                $this->retries->run(fn () => $this->calls->reopen($unknown), $deadline);
                ++$openings;
                $part = 0;
            } catch (InvalidArgument $refused) {
                // The sidecar has lost the first parts.
                if ($part === 0 || !str_ends_with($refused->field, 'first_job_index')) {
                    throw $refused;
                }
                $part = 0;
            }
        }
        $group->isRepeated = true;
        $epoch = (int) $response->getReceipt()->getEpoch();
        $this->hasLost = $this->hasLost || $epoch !== ($this->epoch ?? $epoch);
        $this->epoch = $epoch;
        $status = Messages::status($response->getGroups()[0]);
        $this->take($group, $status, $epoch);

        return $status;
    }

    private function attempt(Group $group, int $part): V1\SubmitGroupsResponse
    {
        try {
            return $this->calls->submit($group->part($part));
        } catch (OffbeatException $error) {
            $isRefusal = $error instanceof InvalidArgument || $error instanceof FailedPrecondition
                || $error instanceof NotFound || $error instanceof ResourceExhausted;
            $group->isUncertain = $group->isUncertain || !$isRefusal;
            $group->isRepeated = $group->isRepeated || !$isRefusal; // a refused attempt was not received
            throw $error;
        }
    }

    /** Submits groups again that were received in another epoch of the spread, and so lost. */
    private function sendLost(): void
    {
        while ($this->hasLost) {
            $isLost = fn (Group $group): bool => $group->epoch !== null && $group->epoch !== $this->epoch;
            $lost = array_filter($this->groups, $isLost);
            $this->hasLost = $lost !== [];
            foreach ($lost as $group) {
                $this->send($group);
            }
        }
    }

    /** @param non-empty-list<Group> $groups */
    private function look(array $groups, float $deadline): void
    {
        $request = (new V1\WaitForGroupsRequest())->setGroupIds(array_column($groups, 'id'));
        $response = $this->retries->run(function () use ($request, $deadline): V1\WaitForGroupsResponse {
            $wait = round(max(0.0, min(self::WAIT_SECONDS, $deadline - Clock::now())), 3);
            $request->setMaxWaitDuration(Times::toDuration('max_wait_duration', $wait));

            return $this->calls->call('WaitForGroups', $request, new V1\WaitForGroupsResponse(), $wait);
        }, $deadline);
        $epoch = (int) $response->getEpoch();
        foreach ($response->getGroups() as $place => $message) {
            $status = Messages::status($message);
            if ($status->state === GroupState::Unknown && $groups[$place]->epoch === $epoch) {
                $status = $groups[$place]->settledLongAgo();
            }
            $this->take($groups[$place], $status, $epoch);
            if ($status->state === GroupState::Unknown || $status->state === GroupState::Partial) {
                $this->send($groups[$place], $deadline);
            }
        }
    }

    private function take(Group $group, GroupStatus $status, int $epoch): void
    {
        if ($status->state === GroupState::Settled) {
            unset($this->groups[$group->id]);
            $this->settled[$group->id] = $status;
        } elseif ($status->state === GroupState::Received || $status->state === GroupState::Stored) {
            $group->epoch = $epoch;
            $group->settledRanges = $status->settledRanges;
        }
    }

    /**
     * Cuts the groups into batches that fit into one call.
     *
     * @return \Generator<int, non-empty-list<Group>>
     */
    private function batches(): \Generator
    {
        $batch = [];
        $bytes = 0;
        foreach ($this->groups as $group) {
            $bytes += strlen($group->id);
            if (count($batch) === self::MAX_IDS || ($bytes > self::MAX_IDS_BYTES && $batch !== [])) {
                yield $batch;
                $batch = [];
                $bytes = strlen($group->id);
            }
            $batch[] = $group;
        }
        if ($batch !== []) {
            yield $batch;
        }
    }

    private static function differs(string $groupId): FailedPrecondition
    {
        $allowed = 'must have the content with which it was submitted before, or another ID';

        return new FailedPrecondition(
            "group_id: $groupId is refused: $allowed",
            reason: 'ERROR_REASON_GROUP_DIFFERS',
            field: 'group_id',
            value: $groupId,
            allowed: $allowed,
        );
    }
}
