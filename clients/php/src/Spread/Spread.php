<?php

declare(strict_types=1);

namespace Offbeat\Spread;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Transport\Conversation;
use Offbeat\V1;

/**
 * The turns of a spread, as they come; can be taken once. Groups and jobs are pulled while it
 * runs, by whoever takes the turns.
 *
 * @implements \IteratorAggregate<int, SpreadTurn>
 */
final class Spread implements \IteratorAggregate
{
    private readonly Puller $groups;
    /** @var array<int, OpenGroup> */
    private array $open = [];
    private int $nextIndex = 0;
    private ?SpreadCertificate $certificate = null;

    /**
     * @internal
     *
     * @param iterable<iterable<mixed>> $groups
     * @param \Closure(): Conversation $converse
     */
    public function __construct(
        iterable $groups,
        private readonly V1\SpreadSpec $spec,
        private readonly \Closure $converse,
    ) {
        $this->groups = new Puller($groups);
    }

    /** What was reached; known when all turns have been taken. */
    public function certificate(): SpreadCertificate
    {
        return $this->certificate ?? throw new \LogicException('the spread has not ended');
    }

    /**
     * @return \Generator<int, SpreadTurn>
     *
     * @throws OffbeatException
     */
    public function getIterator(): \Generator
    {
        $conversation = ($this->converse)();
        try {
            $conversation->write((new V1\SpreadRequest())->setSpec($this->spec)->serializeToString());
            while (($bytes = $conversation->read()) !== null) {
                $response = new V1\SpreadResponse();
                $response->mergeFromString($bytes);
                if ($response->hasDemand()) {
                    $request = (new V1\SpreadRequest())->setInput($this->answer($response->getDemand()));
                    $conversation->write($request->serializeToString());
                } elseif ($response->hasTurns()) {
                    yield from $this->turns($response->getTurns());
                } elseif ($response->hasCertificate()) {
                    $this->certificate = self::certificateOf($response->getCertificate());
                }
            }
        } finally {
            $conversation->close();
        }
    }

    /** Pulls what is asked for, and says how much came. */
    private function answer(V1\SpreadDemand $demand): V1\SpreadInput
    {
        $input = new V1\SpreadInput();
        $groups = [];
        for ($asked = (int) $demand->getGroupCount(); $asked > 0; --$asked) {
            if (!$this->groups->next($group)) {
                $input->setNoMoreGroups(true);
                break;
            }
            $index = $this->nextIndex++;
            $size = $this->spec->getPolicy() === V1\SpreadPolicy::SPREAD_POLICY_COOLDOWN ? self::size($index, $group) : null;
            $this->open[$index] = new OpenGroup($index, $group, $size);
            $message = $this->pull($index, (int) $demand->getJobsPerGroup());
            $groups[] = $size === null ? $message : $message->setSize($size);
        }
        foreach ($demand->getGroups() as $asked) {
            $index = (int) $asked->getGroupIndex();
            // Its last jobs may have crossed the demand on the way.
            if (isset($this->open[$index]) && !$this->open[$index]->ended) {
                $groups[] = $this->pull($index, (int) $asked->getJobCount());
            }
        }

        return $input->setGroups($groups);
    }

    private function pull(int $index, int $count): V1\GroupInput
    {
        $group = $this->open[$index];
        $pulled = $group->pull($count);
        $this->forget($index, $group);

        return (new V1\GroupInput())->setGroupIndex($index)->setJobCount($pulled)->setIsLast($group->ended);
    }

    /** @return \Generator<int, SpreadTurn> */
    private function turns(V1\SpreadTurns $turns): \Generator
    {
        $sequence = (int) $turns->getFirstSequence();
        foreach ($turns->getGroupIndexes() as $index) {
            $index = (int) $index;
            if ($index < 0) {
                yield $sequence => new SpreadTurn($sequence, null, null);
            } else {
                $group = $this->open[$index];
                $job = $group->ready->dequeue();
                $this->forget($index, $group);
                yield $sequence => new SpreadTurn($sequence, $index, $job);
            }
            ++$sequence;
        }
    }

    private function forget(int $index, OpenGroup $group): void
    {
        if ($group->ended && $group->ready->isEmpty()) {
            unset($this->open[$index]);
        }
    }

    private static function size(int $index, mixed $group): int
    {
        if (is_countable($group)) {
            return count($group);
        }
        throw InvalidArgument::refused("groups[$index]", $group, 'must be countable (an array) with SpreadPolicy::Cooldown');
    }

    private static function certificateOf(V1\SpreadCertificate $message): SpreadCertificate
    {
        return new SpreadCertificate(
            jobCount: (int) $message->getJobCount(),
            groupCount: (int) $message->getGroupCount(),
            minGap: $message->hasMinGap() ? (int) $message->getMinGap() : null,
            bestMinGap: $message->hasBestMinGap() ? (int) $message->getBestMinGap() : null,
            closePairCount: (int) $message->getClosePairCount(),
            closePairLowerBound: (int) $message->getClosePairLowerBound(),
            widestSpan: (int) $message->getWidestSpan(),
        );
    }
}
