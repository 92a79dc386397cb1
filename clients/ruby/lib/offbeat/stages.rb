# frozen_string_literal: true

require_relative "v1/stages_pb"
require_relative "value"

module Offbeat
  # A stage of a pipeline, as it is now. A nil has the sidecar's default.
  #
  #   Offbeat::Stage.new(name: "render", backlog_count: 12, mean_run_time: 1.5)
  Stage = Value.define(:name, :backlog_count, :mean_run_time, :run_times, :done, :min_worker_count,
                       :max_worker_count, :current_worker_count, :busy_worker_count, :arrival_count,
                       :arrival_period) do
    # @param name another for each stage
    # @param backlog_count the jobs that wait; those that run do not count
    # @param mean_run_time how long a job takes on average, in seconds. Default: the mean of the stages
    #   that were measured; if none was, 1 s
    # @param run_times instead of it: how long some jobs took
    # @param done whether no more work will come: it gets its busy workers only
    # @param min_worker_count it gets no fewer workers
    # @param max_worker_count it gets no more. Default: as many as there are
    # @param current_worker_count the workers that it has, busy ones included
    # @param busy_worker_count those of them that are in the middle of a job, and so stay
    # @param arrival_count the jobs that arrive on average in each arrival_period; they say when the backlog is
    #   done and how many workers keep up, and do not change how many workers it gets. Default: as many as at the
    #   stage before; at the first, none
    # @param arrival_period in seconds. Default: 1 s
    def initialize(name:, backlog_count: 0, mean_run_time: nil, run_times: [], done: false,
                   min_worker_count: 0, max_worker_count: nil, current_worker_count: 0, busy_worker_count: 0,
                   arrival_count: nil, arrival_period: nil)
      super
    end

    # The stage as its message; the path names it in refusals.
    def to_message(path)
      stage = V1::Stage.new
      Fields.set_all(stage, self, path, %w[name backlog_count done min_worker_count max_worker_count
                                               current_worker_count busy_worker_count arrival_count])
      Fields.set_spans(stage, self, path, %w[mean_run_time arrival_period])
      Fields.each_indexed(run_times, "#{path}.run_times") do |time, place|
        stage.run_times << Times.to_duration(place, time)
      end
      stage
    end
  end

  # Allocations of workers: `stages` in the order of the question, and the `moves` that lead
  # there. Scores are in microseconds. `starved_stages` have waiting jobs and no worker; with
  # `prevent_starvation` the score would rise by `starvation_prevention_cost`. All arrivals need
  # `min_stable_worker_count` workers: with fewer, some backlog grows without end.
  WorkerAllocation = Value.define(:stages, :moves, :unassigned_worker_count, :score, :current_score,
                                  :improvement_too_small, :starved_stages, :starvation_prevention_cost,
                                  :min_stable_worker_count) do
    def self.of(message)
      new(stages: message.stages.map { |stage| StageAllocation.of(stage) },
          moves: message.moves.map { |move| WorkerMove.of(move) },
          unassigned_worker_count: message.unassigned_worker_count, score: message.score,
          current_score: message.current_score, improvement_too_small: message.improvement_too_small,
          starved_stages: message.starved_stages.map { |stage| StarvedStage.of(stage) },
          starvation_prevention_cost: message.starvation_prevention_cost,
          min_stable_worker_count: message.min_stable_worker_count)
    end

    # The workers of each stage, by its name.
    def worker_counts
      stages.to_h { |stage| [stage.stage_name, stage.worker_count] }
    end
  end

  # The allocation of a stage, and its reasons: `next_quotient` is what one worker more would be worth there, in
  # microseconds; `mean_run_time`, in seconds, is the one that was used, with `run_time_estimated` that of the other
  # stages. Its workers have done what waits and what arrives meanwhile after `drain_time`, in seconds, or never: nil.
  # `min_stable_worker_count` workers keep up with what arrives.
  StageAllocation = Value.define(:stage_name, :worker_count, :workload_micros, :weight, :mean_run_time,
                                 :run_time_estimated, :score, :next_quotient, :drain_time,
                                 :min_stable_worker_count) do
    def self.of(message)
      new(stage_name: message.stage_name, worker_count: message.worker_count, workload_micros: message.workload_micros,
          weight: message.weight, mean_run_time: Times.from_duration(message.mean_run_time),
          run_time_estimated: message.run_time_estimated, score: message.score,
          next_quotient: message.next_quotient,
          drain_time: (Times.from_micros(message.drain_time_micros) if message.has_drain_time_micros?),
          min_stable_worker_count: message.min_stable_worker_count)
    end

    # Whether jobs arrive faster than its workers do them.
    def grows?
      worker_count < min_stable_worker_count
    end
  end

  # A stage with waiting jobs and no worker, although it may have one: the score rises by `cost` microseconds if one
  # moves there from where it is worth least; nil if none may move.
  StarvedStage = Value.define(:stage_name, :backlog_count, :cost) do
    def self.of(message)
      new(stage_name: message.stage_name, backlog_count: message.backlog_count,
          cost: (message.cost if message.has_cost?))
    end
  end

  # Workers who change their stage: from nil if they are new, to nil if they are not needed any more.
  WorkerMove = Value.define(:from_stage_name, :to_stage_name, :worker_count) do
    def self.of(message)
      new(from_stage_name: Fields.name_or_nil(message.from_stage_name), to_stage_name: Fields.name_or_nil(message.to_stage_name),
          worker_count: message.worker_count)
    end
  end

  # The next stage of a worker: a stage, or nil if no stage may have it. `changes_stage` says whether that is another
  # than its current one; `reason` is :worth_most, :below_minimum, :gain_too_small or :all_full;
  # the quotients are what the worker is worth there and in its current stage, in microseconds.
  StageChoice = Value.define(:stage_name, :changes_stage, :reason, :quotient, :current_quotient) do
    def self.of(message)
      new(stage_name: Fields.name_or_nil(message.stage_name), changes_stage: message.changes_stage,
          reason: Fields.symbol(message.reason, "STAGE_CHOICE_REASON_"), quotient: message.quotient,
          current_quotient: message.current_quotient)
    end
  end
end
