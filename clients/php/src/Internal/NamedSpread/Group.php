<?php

declare(strict_types=1);

namespace Offbeat\Internal\NamedSpread;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Internal\Check;
use Offbeat\NamedSpread\GroupState;
use Offbeat\NamedSpread\GroupStatus;
use Offbeat\V1;

/**
 * A group that is not known to be settled, with everything that is needed to submit it again.
 *
 * @internal
 */
final class Group
{
    private const MAX_PART_BYTES = 1 << 20;
    private const MAX_PART_JOBS = 65_536;

    public readonly string $sha256;
    /** The receipt that was known before the first attempt to submit the group. */
    public ?V1\Receipt $firstReceipt = null;
    /** The epoch in which it was last received; null until an answer has said so. */
    public ?int $epoch = null;
    /** Whether it may have been received before: its commit then has the first receipt. */
    public bool $isRepeated = false;
    /** Whether the sidecar may have received an attempt that got no answer. */
    public bool $isUncertain = false;
    /** @var list<array{int, int}> indexes of jobs that are known to be settled, as half-open ranges */
    public array $settledRanges = [];
    /** @var list<string> */
    private readonly array $payloads;
    /** @var list<int> the index of the first job of each part */
    private readonly array $firsts;

    /** @param array<string> $payloads */
    public function __construct(public readonly string $id, array $payloads)
    {
        Check::utf8('group_id', $id);
        $this->payloads = array_values($payloads);
        $hash = hash_init('sha256');
        $firsts = [0];
        $bytes = 0;
        foreach ($this->payloads as $index => $payload) {
            if (!is_string($payload)) {
                throw InvalidArgument::refused("payloads[$index]", $payload, 'must be a string');
            }
            hash_update($hash, pack('J', strlen($payload)) . $payload);
            $count = $index - end($firsts);
            $bytes += strlen($payload);
            if ($count === self::MAX_PART_JOBS || ($bytes > self::MAX_PART_BYTES && $count > 0)) {
                $firsts[] = $index;
                $bytes = strlen($payload);
            }
        }
        $this->sha256 = hash_final($hash, true);
        $this->firsts = $firsts;
    }

    public function partCount(): int
    {
        return count($this->firsts);
    }

    public function part(int $number): V1\GroupPart
    {
        $first = $this->firsts[$number];
        $end = $this->firsts[$number + 1] ?? null;
        $job = static fn (string $payload): V1\SubmittedJob => (new V1\SubmittedJob())->setPayload($payload);
        $part = (new V1\GroupPart())
            ->setGroupId($this->id)
            ->setFirstJobIndex($first)
            ->setJobs(array_map($job, array_slice($this->payloads, $first, $end === null ? null : $end - $first)));
        if ($end === null) {
            $range = static fn (array $range): V1\IndexRange => (new V1\IndexRange())->setStartIndex($range[0])->setEndIndex($range[1]);
            $commit = (new V1\GroupCommit())
                ->setJobCount(count($this->payloads))
                ->setSha256($this->sha256)
                ->setSettledRanges(array_map($range, $this->settledRanges));
            if ($this->isRepeated) {
                $commit->setFirstReceipt($this->firstReceipt);
            }
            $part->setCommit($commit);
        }

        return $part;
    }

    /** The status of a group that this epoch of the spread has received and forgotten: it was settled long ago. */
    public function settledLongAgo(): GroupStatus
    {
        $count = count($this->payloads);

        return new GroupStatus($this->id, GroupState::Settled, $count, $count, 0, []);
    }
}
