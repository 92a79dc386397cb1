"""Calls about stages."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from . import stages as questions
from ._asking import Asking, AsyncAsking
from .stages import AllocationRule, Stage, StageChoice, StageWeighting, WorkerAllocation


class StageCalls(Asking):
    """The calls of ``StageService``."""

    def allocate_workers(
        self,
        stages: Sequence[Stage],
        worker_count: int,
        *,
        rule: AllocationRule | None = None,
        weighting: StageWeighting | None = None,
        max_move_count: int | None = None,
        min_improvement_percent: int = 0,
        prevent_starvation: bool = False,
        timeout: float | timedelta | None = None,
    ) -> WorkerAllocation | None:
        """Share workers out to the stages of a pipeline, and say which of them move.

        Returns ``None`` if every stage is done. ``rule`` is by default
        ``AllocationRule.MINIMUM_SCORE``, ``weighting`` is ``StageWeighting.EVEN``. Hysteresis:
        at most ``max_move_count`` workers move, and none moves unless the score falls by at
        least ``min_improvement_percent`` (minimum score only). Moves that minima, maxima and new
        or missing workers force always happen. With ``prevent_starvation``, every stage with
        waiting jobs gets at least one worker, if there are enough; without it the rule alone
        decides, and ``starved_stages`` of the answer names the stages that get no worker.
        """
        question = questions.allocate_workers(
            stages,
            worker_count,
            rule,
            weighting,
            max_move_count,
            min_improvement_percent,
            prevent_starvation,
        )
        return self._ask(question, timeout)

    def choose_stage(
        self,
        stages: Sequence[Stage],
        current_stage_name: str | None = None,
        *,
        rule: AllocationRule | None = None,
        weighting: StageWeighting | None = None,
        min_gain_percent: int = 0,
        prevent_starvation: bool = False,
        timeout: float | timedelta | None = None,
    ) -> StageChoice | None:
        """Choose the next stage of a worker that has just finished a job.

        Returns ``None`` if every stage is done. The worker counts among the current workers of
        ``current_stage_name``, but not among the busy ones; a new worker has no current stage. It
        stays unless it is worth at least ``min_gain_percent`` more elsewhere. ``rule``,
        ``weighting`` and ``prevent_starvation`` are as in :meth:`allocate_workers`.
        """
        question = questions.choose_stage(
            stages, current_stage_name, rule, weighting, min_gain_percent, prevent_starvation
        )
        return self._ask(question, timeout)


class AsyncStageCalls(AsyncAsking):
    """The calls of ``StageService``, as coroutines."""

    async def allocate_workers(
        self,
        stages: Sequence[Stage],
        worker_count: int,
        *,
        rule: AllocationRule | None = None,
        weighting: StageWeighting | None = None,
        max_move_count: int | None = None,
        min_improvement_percent: int = 0,
        prevent_starvation: bool = False,
        timeout: float | timedelta | None = None,
    ) -> WorkerAllocation | None:
        """See :meth:`offbeat.Client.allocate_workers`."""
        question = questions.allocate_workers(
            stages,
            worker_count,
            rule,
            weighting,
            max_move_count,
            min_improvement_percent,
            prevent_starvation,
        )
        return await self._ask(question, timeout)

    async def choose_stage(
        self,
        stages: Sequence[Stage],
        current_stage_name: str | None = None,
        *,
        rule: AllocationRule | None = None,
        weighting: StageWeighting | None = None,
        min_gain_percent: int = 0,
        prevent_starvation: bool = False,
        timeout: float | timedelta | None = None,
    ) -> StageChoice | None:
        """See :meth:`offbeat.Client.choose_stage`."""
        question = questions.choose_stage(
            stages, current_stage_name, rule, weighting, min_gain_percent, prevent_starvation
        )
        return await self._ask(question, timeout)
