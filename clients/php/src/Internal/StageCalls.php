<?php

declare(strict_types=1);

namespace Offbeat\Internal;

use Google\Protobuf\Internal\Message;
use Offbeat\Exception\OffbeatException;
use Offbeat\Stages\AllocationRule;
use Offbeat\Stages\Stage;
use Offbeat\Stages\StageChoice;
use Offbeat\Stages\StageWeighting;
use Offbeat\Stages\WorkerAllocation;
use Offbeat\V1;

/**
 * The client's calls about the stages of a pipeline.
 *
 * @internal
 */
trait StageCalls
{
    /**
     * Allocates all workers to the stages of a pipeline, and lists the moves. Null if every stage is done.
     *
     * @param array<Stage> $stages in the order of the pipeline
     * @param ?AllocationRule $rule AllocationRule::MinimumScore by default
     * @param ?StageWeighting $weighting StageWeighting::Even by default
     * @param ?int $maxMoveCount hysteresis: at most this many workers move, besides those that are forced to. Default:
     *     no bound
     * @param int $minImprovementPercent hysteresis: workers move only if the score falls by at least this percentage;
     *     forced moves always happen. AllocationRule::MinimumScore only
     * @param bool $preventStarvation whether every stage with waiting jobs gets at least one worker, if there are
     *     enough. By default the rule alone decides, and the answer names the starved stages
     *
     * @throws OffbeatException
     */
    public function allocateWorkers(
        array $stages,
        int $workerCount,
        ?AllocationRule $rule = null,
        ?StageWeighting $weighting = null,
        ?int $maxMoveCount = null,
        int $minImprovementPercent = 0,
        bool $preventStarvation = false,
        int|float|null $timeout = null,
    ): ?WorkerAllocation {
        $request = (new V1\AllocateWorkersRequest())
            ->setStages(Stage::toMessages($stages))
            ->setWorkerCount(Check::int32('worker_count', $workerCount))
            ->setRule($rule?->toMessage() ?? V1\AllocationRule::ALLOCATION_RULE_UNSPECIFIED)
            ->setWeighting($weighting?->toMessage() ?? V1\StageWeighting::STAGE_WEIGHTING_UNSPECIFIED)
            ->setMinImprovementPercent(Check::int32('min_improvement_percent', $minImprovementPercent))
            ->setPreventStarvation($preventStarvation);
        if ($maxMoveCount !== null) {
            $request->setMaxMoveCount(Check::int32('max_move_count', $maxMoveCount));
        }
        $response = $this->call('offbeat.v1.StageService/AllocateWorkers', $request, new V1\AllocateWorkersResponse(), $timeout);

        return $this->read(static fn (): ?WorkerAllocation => match ($response->getOutcome()) {
            'allocation' => WorkerAllocation::fromMessage($response->getAllocation()),
            'all_stages_done' => null,
        });
    }

    /**
     * Chooses the next stage of a worker that has just finished a job: it stays, or it moves. Null if every stage is
     * done.
     *
     * @param array<Stage> $stages in the order of the pipeline; the worker counts among the current workers of its
     *     stage, and not among the busy ones
     * @param ?string $currentStageName the name of its stage; null for a new worker
     * @param ?AllocationRule $rule AllocationRule::MinimumScore by default
     * @param ?StageWeighting $weighting StageWeighting::Even by default
     * @param int $minGainPercent hysteresis: it stays unless it is worth more elsewhere by at least this percentage
     * @param bool $preventStarvation whether stages with waiting jobs have a minimum of one worker
     *
     * @throws OffbeatException
     */
    public function chooseStage(
        array $stages,
        ?string $currentStageName = null,
        ?AllocationRule $rule = null,
        ?StageWeighting $weighting = null,
        int $minGainPercent = 0,
        bool $preventStarvation = false,
        int|float|null $timeout = null,
    ): ?StageChoice {
        $request = (new V1\ChooseStageRequest())
            ->setStages(Stage::toMessages($stages))
            ->setCurrentStageName(Check::utf8('current_stage_name', $currentStageName ?? ''))
            ->setRule($rule?->toMessage() ?? V1\AllocationRule::ALLOCATION_RULE_UNSPECIFIED)
            ->setWeighting($weighting?->toMessage() ?? V1\StageWeighting::STAGE_WEIGHTING_UNSPECIFIED)
            ->setMinGainPercent(Check::int32('min_gain_percent', $minGainPercent))
            ->setPreventStarvation($preventStarvation);
        $response = $this->call('offbeat.v1.StageService/ChooseStage', $request, new V1\ChooseStageResponse(), $timeout);

        return $this->read(static fn (): ?StageChoice => match ($response->getOutcome()) {
            'choice' => StageChoice::fromMessage($response->getChoice()),
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
