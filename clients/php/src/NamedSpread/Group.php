<?php

declare(strict_types=1);

namespace Offbeat\NamedSpread;

use Offbeat\Check;
use Offbeat\Exception\InvalidArgument;
use Offbeat\V1;

/**
 * A group that is not known to be settled, with all that is needed to submit it again.
 *
 * @internal
 */
final class Group
{
    private const MAX_PART_BYTES = 1 << 20;
    private const MAX_PART_JOBS = 65_536;

    public readonly string $sha256;
    /** What it can have been received under at the earliest. */
    public ?V1\Receipt $firstReceipt = null;
    /** What it was received under last. */
    public ?int $epoch = null;
    /** Whether it may have been received before. */
    public bool $isRepeated = false;
    /** Whether an attempt may have been received without an answer. */
    public bool $isUncertain = false;
    /** @var list<array{int, int}> jobs that are not to be dealt again */
    public array $settledRanges = [];
    /** @var list<string> */
    private readonly array $jobs;
    /** @var list<int> the first job of each part */
    private readonly array $firsts;

    /** @param array<string> $jobs */
    public function __construct(public readonly string $id, array $jobs)
    {
        Check::utf8('group_id', $id);
        $this->jobs = array_values($jobs);
        $hash = hash_init('sha256');
        $firsts = [0];
        $bytes = 0;
        foreach ($this->jobs as $index => $job) {
            if (!is_string($job)) {
                throw InvalidArgument::refused("jobs[$index]", $job, 'must be a string');
            }
            hash_update($hash, pack('J', strlen($job)) . $job);
            $count = $index - end($firsts);
            $bytes += strlen($job);
            if ($count === self::MAX_PART_JOBS || ($bytes > self::MAX_PART_BYTES && $count > 0)) {
                $firsts[] = $index;
                $bytes = strlen($job);
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
        $part = (new V1\GroupPart())
            ->setGroupId($this->id)
            ->setFirstIndex($first)
            ->setJobs(array_slice($this->jobs, $first, $end === null ? null : $end - $first));
        if ($end === null) {
            $commit = (new V1\GroupCommit())->setJobCount(count($this->jobs))->setSha256($this->sha256);
            $part->setCommit($commit)->setSettledRanges(array_merge(...$this->settledRanges));
            if ($this->isRepeated) {
                $part->setFirstReceipt($this->firstReceipt);
            }
        }

        return $part;
    }

    /** Of a group that this life of the spread has received and knows no more. */
    public function settledLongAgo(): GroupStatus
    {
        $count = count($this->jobs);

        return new GroupStatus($this->id, GroupState::Settled, $count, $count, 0, []);
    }
}
