<?php

declare(strict_types=1);

namespace Offbeat\Internal\Spread;

use Offbeat\Exception\InvalidArgument;

/**
 * An open group: its jobs that were pulled, and those to come.
 *
 * @internal
 */
final class OpenGroup
{
    /** @var \SplQueue<mixed> */
    public readonly \SplQueue $ready;
    public bool $ended;
    private readonly Puller $jobs;

    /** @param iterable<mixed> $jobs */
    public function __construct(private readonly int $index, iterable $jobs, private ?int $left)
    {
        $this->ready = new \SplQueue();
        $this->jobs = new Puller($jobs);
        $this->ended = $left === 0;
    }

    /** Pulls up to $count jobs. Returns how many there were. */
    public function pull(int $count): int
    {
        for ($pulled = 0; $pulled < $count && !$this->ended; ++$pulled) {
            if (!$this->jobs->next($job)) {
                if ($this->left !== null) {
                    $allowed = 'must have as many jobs as its count says';
                    throw InvalidArgument::refused("groups[$this->index]", 'a shorter group', $allowed);
                }
                $this->ended = true;
                break;
            }
            $this->ready->enqueue($job);
            if ($this->left !== null) {
                $this->ended = --$this->left === 0;
            }
        }

        return $pulled;
    }
}
