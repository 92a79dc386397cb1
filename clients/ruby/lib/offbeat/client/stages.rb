# frozen_string_literal: true

module Offbeat
  # Asks about the stages of a pipeline: each call names all of them, in the order of the pipeline.
  class Client
    ALLOCATION_RULES = { minimum_score: :ALLOCATION_RULE_MINIMUM_SCORE, d_hondt: :ALLOCATION_RULE_D_HONDT }.freeze
    STAGE_WEIGHTINGS = { even: :STAGE_WEIGHTING_EVEN, latency: :STAGE_WEIGHTING_LATENCY }.freeze

    # Shares workers out over {Stage}s: a {WorkerAllocation}, or nil if every stage is done.
    #
    # @param rule :minimum_score, the default, or :d_hondt, which favours large stages more
    # @param weighting :even, the default, or :latency, which favours the last stages of the pipeline
    # @param max_move_count hysteresis: at most this many workers move. Default: any number
    # @param min_improvement_percent hysteresis: workers move only if the score falls by at least this. Default: 0
    # @param prevent_starvation whether every stage with waiting jobs gets at least one worker, where there are
    #   enough. Default: false; the rule alone decides, and the answer names the `starved_stages`
    def allocate_workers(stages, worker_count:, rule: nil, weighting: nil, max_move_count: nil,
                         min_improvement_percent: nil, prevent_starvation: nil, timeout: nil)
      request = stage_request(V1::AllocateWorkersRequest, stages, rule, weighting)
      { worker_count: worker_count, max_move_count: max_move_count,
        min_improvement_percent: min_improvement_percent, prevent_starvation: prevent_starvation }
        .each { |name, value| Offbeat.set_field(request, name.to_s, value) }
      response = call("AllocateWorkers", request, V1::AllocateWorkersResponse, timeout, service: "v1.StageService")
      WorkerAllocation.of(response.allocation) unless outcome(response) == :all_stages_done
    end

    # Chooses the next stage of a worker that has just finished a job: a {StageChoice}, or nil if every stage is done.
    # The worker must count among the current workers of its stage, and not among the busy ones.
    #
    # @param current_stage_name its stage; nil for a new worker
    # @param min_gain_percent hysteresis: it stays unless it is worth more elsewhere by at least this. Default: 0
    # @param prevent_starvation whether stages with waiting jobs have a minimum of one worker. Default: false
    def choose_stage(stages, current_stage_name: nil, rule: nil, weighting: nil, min_gain_percent: nil,
                     prevent_starvation: nil, timeout: nil)
      request = stage_request(V1::ChooseStageRequest, stages, rule, weighting)
      Offbeat.set_field(request, "current_stage_name", current_stage_name)
      Offbeat.set_field(request, "min_gain_percent", min_gain_percent)
      Offbeat.set_field(request, "prevent_starvation", prevent_starvation)
      response = call("ChooseStage", request, V1::ChooseStageResponse, timeout, service: "v1.StageService")
      StageChoice.of(response.choice) unless outcome(response) == :all_stages_done
    end

    private

    # The common part of both calls.
    def stage_request(type, stages, rule, weighting)
      request = type.new
      Fields.add_messages(request, "stages", stages, Stage)
      request.rule = Offbeat.named("rule", rule, ALLOCATION_RULES) if rule
      request.weighting = Offbeat.named("weighting", weighting, STAGE_WEIGHTINGS) if weighting
      request
    end

    # The name of the outcome of an answer. An answer without a known outcome must not pass for one of them.
    def outcome(response)
      response.outcome or raise Error, "the answer has no outcome that this client knows"
    end
  end
end
