<?php

declare(strict_types=1);

namespace Offbeat\Spread;

use Offbeat\Exception\InvalidArgument;
use Offbeat\Exception\OffbeatException;
use Offbeat\Internal\Spread\OpenGroup;
use Offbeat\Internal\Spread\Puller;
use Offbeat\Internal\Spread\ResumeToken;
use Offbeat\Internal\Transport\Conversation;
use Offbeat\V1;

/**
 * The turns of a spread, in order. They can be taken only once. Groups and jobs are pulled while the turns are taken.
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
    /** The last message of turns, and how many of them were taken. */
    private ?V1\SpreadTurns $turns = null;
    private int $taken = 0;
    private bool $isTaken = false;

    /**
     * @internal
     *
     * @param iterable<iterable<mixed>> $groups
     * @param ResumeToken $token the position where it begins
     * @param \Closure(): Conversation $converse
     */
    public function __construct(
        iterable $groups,
        private readonly ResumeToken $token,
        private readonly \Closure $converse,
    ) {
        $this->groups = new Puller($groups);
    }

    /** The position after the turns that were taken, as bytes for Client::resumeSpread(). */
    public function resumeToken(): string
    {
        $token = $this->turns === null ? $this->token : $this->token->behind($this->turns, $this->taken);

        return $token->bytes();
    }

    /** The certificate. Throws a LogicException until all turns have been taken. */
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
        if ($this->isTaken) {
            throw new \LogicException('the turns of a spread can be taken once: go on with resumeSpread()');
        }
        $this->isTaken = true;
        $conversation = ($this->converse)();
        try {
            $conversation->write($this->token->first->serializeToString());
            while (($bytes = $conversation->read()) !== null) {
                $response = new V1\SpreadResponse();
                $response->mergeFromString($bytes);
                if ($response->hasDemand()) {
                    $request = (new V1\SpreadRequest())->setInput($this->answer($response->getDemand()));
                    $conversation->write($request->serializeToString());
                } elseif ($response->hasTurns()) {
                    yield from $this->turns($response->getTurns());
                } elseif ($response->hasCertificate()) {
                    $this->certificate = SpreadCertificate::fromMessage($response->getCertificate());
                }
            }
        } finally {
            $conversation->close();
        }
    }

    /** Pulls the groups and jobs that the sidecar demands, and says how many there were. */
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
            $size = $this->token->isSized ? self::size($index, $group) : null;
            $this->open[$index] = new OpenGroup($index, $group, $size);
            $message = $this->pull($index, (int) $demand->getJobsPerGroup());
            $groups[] = $size === null ? $message : $message->setSize($size);
        }
        foreach ($demand->getGroups() as $asked) {
            $index = (int) $asked->getGroupIndex();
            // The last jobs of the group may have been sent before the demand arrived.
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

        return (new V1\GroupInput())->setGroupIndex($index)->setJobCount($pulled)->setLast($group->ended);
    }

    /** @return \Generator<int, SpreadTurn> */
    private function turns(V1\SpreadTurns $turns): \Generator
    {
        $first = (int) $turns->getFirstTurnIndex();
        if ($first + count($turns->getGroupIndexes()) > $this->token->begin) {
            $this->turns = $turns;
        }
        foreach ($turns->getGroupIndexes() as $place => $index) {
            $sequence = $first + $place;
            $turn = $this->turn($sequence, (int) $index);
            if ($sequence >= $this->token->begin) {
                $this->taken = $place + 1;
                yield $sequence => $turn;
            }
        }
    }

    private function turn(int $sequence, int $index): SpreadTurn
    {
        if ($index < 0) {
            return new SpreadTurn($sequence, null, null);
        }
        $group = $this->open[$index];
        $job = $group->ready->dequeue();
        $this->forget($index, $group);

        return new SpreadTurn($sequence, $index, $job);
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
}
