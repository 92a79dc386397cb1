# frozen_string_literal: true

require_relative "v1/stages_pb"
require_relative "value"

module Offbeat
  # The current state of a stage of a pipeline. nil stands for the sidecar's default.
  #
  #   Offbeat::Stage.new(name: "render", backlog_count: 12, mean_run_time: 1.5)
  Stage = Value.define(:name, :backlog_count, :mean_run_time, :run_times, :done, :min_worker_count,
                       :max_worker_count, :current_worker_count, :busy_worker_count, :arrival_count,
                       :arrival_period) do
    # @param name unique among the stages of a call
    # @param backlog_count the jobs that wait; those that run do not count
    # @param mean_run_time how long a job takes on average, in seconds. Default: the mean of the stages that have one;
    #   if none has, 1 s
    # @param run_times instead of mean_run_time: how long some jobs took, in seconds
    # @param done whether no more work will come: the stage then keeps its busy workers, and gets no others
    # @param min_worker_count the fewest workers that it gets
    # @param max_worker_count the most workers that it gets. Default: no limit
    # @param current_worker_count the workers that it has now, busy ones included
    # @param busy_worker_count those workers that are running a job, and therefore stay
    # @param arrival_count how many jobs arrive in each arrival_period, on average. It determines when the backlog is
    #   done and how many workers keep up, but not how many workers the stage gets. Default: as many as arrive at the
    #   stage before; none at the first stage
    # @param arrival_period in seconds. Default: 1 s
    def initialize(name:, backlog_count: 0, mean_run_time: nil, run_times: [], done: false,
                   min_worker_count: 0, max_worker_count: nil, current_worker_count: 0, busy_worker_count: 0,
                   arrival_count: nil, arrival_period: nil)
      super
    end

    # The stage as a protobuf message; `path` prefixes the fields that errors name.
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

  # An allocation of workers. `stages` are in the order of the request, and the `moves` lead from the current allocation
  # to this one. Scores are in microseconds. `starved_stages` have waiting jobs and no worker; with
  # `prevent_starvation`, the score would rise by `starvation_prevention_cost`. With fewer than
  # `min_stable_worker_count` workers in all, some backlog grows without end.
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

    # The number of workers of each stage, by stage name.
    def worker_counts
      stages.to_h { |stage| [stage.stage_name, stage.worker_count] }
    end
  end

  # The workers of a stage, and the reasons. `next_quotient` is what one worker more would be worth there, in
  # microseconds. `mean_run_time` is the run time that was used, in seconds; if `run_time_estimated`, it is the mean of
  # other stages, or 1 s. `drain_time`, in seconds, is how long the workers take for the backlog and the jobs that
  # arrive meanwhile; nil if the backlog never drains. `min_stable_worker_count` is the fewest workers that keep up with
  # the arrivals.
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

    # Whether jobs arrive faster than the workers of the stage can run them.
    def grows?
      worker_count < min_stable_worker_count
    end
  end

  # A stage with waiting jobs and no worker, although it may have one. `cost` is by how many microseconds the score
  # rises if a worker moves there from the stage where it is worth least; nil if no worker may move.
  StarvedStage = Value.define(:stage_name, :backlog_count, :cost) do
    def self.of(message)
      new(stage_name: message.stage_name, backlog_count: message.backlog_count,
          cost: (message.cost if message.has_cost?))
    end
  end

  # Workers that change their stage. `from_stage_name` is nil for new workers, and `to_stage_name` is nil for workers
  # that are no longer needed.
  WorkerMove = Value.define(:from_stage_name, :to_stage_name, :worker_count) do
    def self.of(message)
      new(from_stage_name: Fields.name_or_nil(message.from_stage_name), to_stage_name: Fields.name_or_nil(message.to_stage_name),
          worker_count: message.worker_count)
    end
  end

  # The next stage of a worker; `stage_name` is nil if no stage may have the worker. `changes_stage` says whether it
  # differs from the current stage. `reason` is :worth_most, :below_minimum, :gain_too_small or :all_full. `quotient`
  # and `current_quotient` are what the worker is worth in that stage and in its current one, in microseconds.
  StageChoice = Value.define(:stage_name, :changes_stage, :reason, :quotient, :current_quotient) do
    def self.of(message)
      new(stage_name: Fields.name_or_nil(message.stage_name), changes_stage: message.changes_stage,
          reason: Fields.symbol(message.reason, "STAGE_CHOICE_REASON_"), quotient: message.quotient,
          current_quotient: message.current_quotient)
    end
  end
end
