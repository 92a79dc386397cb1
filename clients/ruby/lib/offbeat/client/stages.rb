# frozen_string_literal: true

module Offbeat
  # Asks about the stages of a pipeline: each call names all of them, in the order of the pipeline.
  class Client
    ALLOCATION_RULES = { minimum_score: :ALLOCATION_RULE_MINIMUM_SCORE, d_hondt: :ALLOCATION_RULE_D_HONDT }.freeze
    STAGE_WEIGHTINGS = { even: :STAGE_WEIGHTING_EVEN, latency: :STAGE_WEIGHTING_LATENCY }.freeze

    # Shares workers out over {Stage}s: a {WorkerAllocation}, or nil if every stage is done.
    #
    # `rule` is :minimum_score, the default, or :d_hondt, which is kinder to large stages. With the
    # `weighting` :latency, what is nearly through the pipeline goes first. Against flapping: at most
    # `max_moves` workers move, and nobody unless the score falls by `minimum_improvement_percent`.
    def allocate_workers(stages, worker_count:, rule: nil, weighting: nil, max_moves: nil,
                         minimum_improvement_percent: nil, timeout: nil)
      request = stage_request(V1::AllocateWorkersRequest, stages, rule, weighting, minimum_improvement_percent)
      Offbeat.set_field(request, "worker_count", worker_count)
      Offbeat.set_field(request, "max_moves", max_moves)
      response = call("AllocateWorkers", request, V1::AllocateWorkersResponse, timeout, service: "StageService")
      WorkerAllocation.of(response.allocation) unless outcome(response) == :all_stages_done
    end

    # Where a worker goes that has just finished a job in the current stage (nil for a new worker): a
    # {NextStage}, or nil if every stage is done. It counts among the current workers of its stage, and not
    # among the busy ones; it stays unless it is worth more elsewhere by `minimum_improvement_percent`.
    def next_stage(stages, current_stage: nil, rule: nil, weighting: nil, minimum_improvement_percent: nil, timeout: nil)
      request = stage_request(V1::NextStageRequest, stages, rule, weighting, minimum_improvement_percent)
      Offbeat.set_field(request, "current_stage", current_stage)
      response = call("NextStage", request, V1::NextStageResponse, timeout, service: "StageService")
      NextStage.of(response.next) unless outcome(response) == :all_stages_done
    end

    private

    # What both calls have in common.
    def stage_request(type, stages, rule, weighting, minimum_improvement_percent)
      request = type.new
      Fields.add_messages(request, "stages", stages, Stage)
      request.rule = Offbeat.named("rule", rule, ALLOCATION_RULES) if rule
      request.weighting = Offbeat.named("weighting", weighting, STAGE_WEIGHTINGS) if weighting
      Offbeat.set_field(request, "minimum_improvement_percent", minimum_improvement_percent)
      request
    end

    # Which of the outcomes an answer has. An empty one must not pass for one of them.
    def outcome(response)
      response.outcome or raise Error, "the answer has no outcome that this client knows"
    end
  end
end
