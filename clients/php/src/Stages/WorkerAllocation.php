<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Offbeat\V1;

/** An allocation of workers to stages, and the moves that lead to it. */
final class WorkerAllocation
{
    /**
     * @param list<StageAllocation> $stages one for each stage, in the order of the request
     * @param list<WorkerMove> $moves from the current allocation to this one, with as few moved workers as possible
     * @param int $unassignedWorkerCount workers that no stage may have
     * @param float $score the sum of the scores of all stages
     * @param float $currentScore the score if only forced moves happened
     * @param bool $improvementTooSmall whether a better allocation was rejected because of the minimum improvement
     * @param list<StarvedStage> $starvedStages stages with waiting jobs and no worker
     * @param float $starvationPreventionCost by how many microseconds the score would rise with preventStarvation; 0 if
     *     that is set, or if no stage is starved
     * @param int $minStableWorkerCount the fewest workers in all that keep up with the arrivals; with fewer, some
     *     backlog grows without end
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
     * The number of workers of each stage, by stage name.
     *
     * @return array<int|string, int> PHP converts a name of digits to an integer
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
