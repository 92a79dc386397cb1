<?php

declare(strict_types=1);

namespace Offbeat\Stages;

use Google\Protobuf\Internal\Message;
use Offbeat\Check;
use Offbeat\Exception\OffbeatException;
use Offbeat\V1;

/**
 * The client's questions about the stages of a pipeline.
 *
 * @internal
 */
trait StageCalls
{
    /**
     * Shares all workers out between the stages of a pipeline, and says who has to move. Null
     * when every stage is done.
     *
     * @param array<Stage> $stages in the order of the pipeline
     * @param ?AllocationRule $rule AllocationRule::MinimumScore by default
     * @param ?StageWeighting $weighting StageWeighting::Even by default
     * @param ?int $maxMoves against flapping: no more workers move, but for what is forced. Default:
     *     no bound
     * @param int $minimumImprovementPercent against flapping: nobody moves, but for what is forced,
     *     unless the score falls by so much. AllocationRule::MinimumScore only
     *
     * @throws OffbeatException
     */
    public function allocateWorkers(
        array $stages,
        int $workerCount,
        ?AllocationRule $rule = null,
        ?StageWeighting $weighting = null,
        ?int $maxMoves = null,
        int $minimumImprovementPercent = 0,
        int|float|null $timeout = null,
    ): ?WorkerAllocation {
        $request = (new V1\AllocateWorkersRequest())
            ->setStages(Stage::toMessages($stages))
            ->setWorkerCount(Check::int32('worker_count', $workerCount))
            ->setRule($rule?->toMessage() ?? V1\AllocationRule::ALLOCATION_RULE_UNSPECIFIED)
            ->setWeighting($weighting?->toMessage() ?? V1\StageWeighting::STAGE_WEIGHTING_UNSPECIFIED)
            ->setMinimumImprovementPercent(
                Check::int32('minimum_improvement_percent', $minimumImprovementPercent),
            );
        if ($maxMoves !== null) {
            $request->setMaxMoves(Check::int32('max_moves', $maxMoves));
        }
        $response = $this->call('StageService/AllocateWorkers', $request, new V1\AllocateWorkersResponse(), $timeout);

        return $this->read(static fn (): ?WorkerAllocation => match ($response->getOutcome()) {
            'allocation' => WorkerAllocation::fromMessage($response->getAllocation()),
            'all_stages_done' => null,
        });
    }

    /**
     * Where one worker that has just finished a job goes next: it stays, or it moves. Null when
     * every stage is done.
     *
     * @param array<Stage> $stages in the order of the pipeline; the worker counts among the current
     *     ones of its stage, and not among the busy ones
     * @param ?string $currentStage the name of its stage; null for a new worker
     * @param ?AllocationRule $rule AllocationRule::MinimumScore by default
     * @param ?StageWeighting $weighting StageWeighting::Even by default
     * @param int $minimumImprovementPercent against flapping: it stays, unless it is worth so much
     *     more elsewhere
     *
     * @throws OffbeatException
     */
    public function nextStage(
        array $stages,
        ?string $currentStage = null,
        ?AllocationRule $rule = null,
        ?StageWeighting $weighting = null,
        int $minimumImprovementPercent = 0,
        int|float|null $timeout = null,
    ): ?NextStage {
        $request = (new V1\NextStageRequest())
            ->setStages(Stage::toMessages($stages))
            ->setCurrentStage(Check::utf8('current_stage', $currentStage ?? ''))
            ->setRule($rule?->toMessage() ?? V1\AllocationRule::ALLOCATION_RULE_UNSPECIFIED)
            ->setWeighting($weighting?->toMessage() ?? V1\StageWeighting::STAGE_WEIGHTING_UNSPECIFIED)
            ->setMinimumImprovementPercent(
                Check::int32('minimum_improvement_percent', $minimumImprovementPercent),
            );
        $response = $this->call('StageService/NextStage', $request, new V1\NextStageResponse(), $timeout);

        return $this->read(static fn (): ?NextStage => match ($response->getOutcome()) {
            'next' => NextStage::fromMessage($response->getNext()),
            'all_stages_done' => null,
        });
    }

    /**
     * @template T of Message
     *
     * @param T $response
     *
     * @return T
     */
    abstract private function call(string $method, Message $request, Message $response, int|float|null $timeout): Message;

    /**
     * @template T
     *
     * @param \Closure(): T $reader
     *
     * @return T
     */
    abstract private function read(\Closure $reader): mixed;
}
