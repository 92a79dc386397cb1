<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** Allocations of workers, and the moves. */
final class WorkerAllocation
{
    /**
     * @param list<StageAllocation> $stages one for each stage, in the order of the question
     * @param list<WorkerMove> $moves from the current allocation to this one, with as few workers
     *     moved as can be
     * @param int $unassignedWorkerCount workers whom no stage may have
     * @param float $score the sum of the scores of all stages
     * @param float $currentScore the score if only those workers moved that are forced to
     * @param bool $improvementTooSmall whether a better allocation was turned down for the minimum
     *     improvement
     * @param list<StarvedStage> $starvedStages stages with waiting jobs and no worker
     * @param float $starvationPreventionCost by how many microseconds the score would rise with
     *     preventStarvation; 0 if that was asked for, or if no stage is starved
     * @param int $minStableWorkerCount the workers that all arrivals need; with fewer, some backlog grows
     *     without end
     */
    public function __construct(
        public readonly array $stages,
        public readonly array $moves,
        public readonly int $unassignedWorkerCount,
        public readonly float $score,
        public readonly float $currentScore,
        public readonly bool $improvementTooSmall,
        public readonly array $starvedStages,
        public readonly float $starvationPreventionCost,
        public readonly int $minStableWorkerCount,
    ) {
    }

    /**
     * How many workers each stage has, by name.
     *
     * @return array<int|string, int> a name of digits is an integer, as PHP has it
     */
    public function workerCounts(): array
    {
        return array_column($this->stages, 'workerCount', 'stageName');
    }

    /** @internal */
    public static function fromMessage(V1\WorkerAllocation $message): self
    {
        return new self(
            stages: array_map(StageAllocation::fromMessage(...), iterator_to_array($message->getStages(), false)),
            moves: array_map(WorkerMove::fromMessage(...), iterator_to_array($message->getMoves(), false)),
            unassignedWorkerCount: $message->getUnassignedWorkerCount(),
            score: $message->getScore(),
            currentScore: $message->getCurrentScore(),
            improvementTooSmall: $message->getImprovementTooSmall(),
            starvedStages: array_map(StarvedStage::fromMessage(...), iterator_to_array($message->getStarvedStages(), false)),
            starvationPreventionCost: $message->getStarvationPreventionCost(),
            minStableWorkerCount: (int) $message->getMinStableWorkerCount(),
        );
    }
}
