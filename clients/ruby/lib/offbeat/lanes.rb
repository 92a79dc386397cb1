# frozen_string_literal: true

require_relative "v1/lanes_pb"
require_relative "value"
require_relative "lane_routes"

module Offbeat
  # Lanes, and the rule by which they take jobs. nil stands for the sidecar's default.
  #
  #   Offbeat::LaneSet.new(lanes: [Offbeat::Lane.new(name: "express", worker_count: 2, attempt_timeout: 60),
  #                                Offbeat::Lane.new(name: "slow", worker_count: 6, attempt_timeout: 900)])
  LaneSet = Value.define(:lanes, :policy, :on_timeout, :max_express_slow_probability) do
    # @param lanes the {Lane}s, fastest first: 2 to 16
    # @param policy :express_first (the default: slow lanes take demoted jobs before all others) or
    #   :slow_first (the express lane takes the jobs that the slow lanes leave)
    # @param on_timeout what happens to a job at its timeout: :abort (the default: it starts again in the
    #   next lane) or :suspend (it continues there)
    # @param max_express_slow_probability an untried job whose slow_probability is above this does not start in the
    #   express lane. Default: 1
    def initialize(lanes:, policy: nil, on_timeout: nil, max_express_slow_probability: nil)
      super
    end

    def self.of(message)
      new(lanes: message.lanes.map { |lane| Lane.of(lane) }, policy: LaneSet::POLICIES.key(message.policy),
          on_timeout: LaneSet::TIMEOUT_ACTIONS.key(message.on_timeout),
          max_express_slow_probability:
            message.has_max_express_slow_probability? ? message.max_express_slow_probability : nil)
    end

    # The lanes as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path = "lane_set")
      message = V1::LaneSet.new
      Fields.add_messages(message, "lanes", lanes, Lane, "#{path}.lanes")
      message.policy = Offbeat.named("#{path}.policy", policy, LaneSet::POLICIES) if policy
      message.on_timeout = Offbeat.named("#{path}.on_timeout", on_timeout, LaneSet::TIMEOUT_ACTIONS) if on_timeout
      Fields.set_all(message, self, path, %w[max_express_slow_probability])
      message
    end
  end
  LaneSet::POLICIES = { express_first: :LANE_POLICY_EXPRESS_FIRST, slow_first: :LANE_POLICY_SLOW_FIRST }.freeze
  LaneSet::TIMEOUT_ACTIONS = { abort: :TIMEOUT_ACTION_ABORT, suspend: :TIMEOUT_ACTION_SUSPEND }.freeze

  # A group of workers with one attempt timeout.
  Lane = Value.define(:name, :worker_count, :attempt_timeout) do
    # @param name unique among the lanes
    # @param attempt_timeout how long an attempt may run, in seconds: longer than in the lane before. Only the last lane
    #   may have none
    def initialize(name:, worker_count:, attempt_timeout: nil)
      super
    end

    def self.of(message)
      new(name: message.name, worker_count: message.worker_count,
          attempt_timeout: Times.from_optional(message.attempt_timeout))
    end

    # The lane as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      lane = V1::Lane.new
      Fields.set_all(lane, self, path, %w[name worker_count])
      Fields.set_spans(lane, self, path, %w[attempt_timeout])
      lane
    end
  end

  # A prediction about a job before it runs: the probability that it exceeds the express lane's timeout (0 to 1), or how
  # long it will run, in seconds.
  LanePrediction = Value.define(:slow_probability, :run_time) do
    def initialize(slow_probability: nil, run_time: nil)
      super
    end

    # The prediction as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      if slow_probability && run_time
        raise Offbeat.refused(path, to_h, "must be slow_probability or run_time, not both",
                              reason: "ERROR_REASON_CONTRADICTORY")
      end

      prediction = V1::LanePrediction.new
      Fields.set_all(prediction, self, path, %w[slow_probability])
      Fields.set_spans(prediction, self, path, %w[run_time])
      prediction
    end
  end

  # A waiting job. Its ID is any text, returned unchanged.
  PendingJob = Value.define(:id, :timed_out_lane_names, :prediction) do
    # @param timed_out_lane_names the lanes whose timeout the job has exceeded. An attempt that failed for another
    #   reason does not count
    # @param prediction a {LanePrediction}: untried jobs are ordered by it, those that are least likely to be slow first
    def initialize(id:, timed_out_lane_names: [], prediction: nil)
      super
    end

    # The job after it has exceeded the timeout of a lane.
    def timed_out_in(lane_name)
      self.class.new(id: id, timed_out_lane_names: timed_out_lane_names.to_a + [lane_name], prediction: prediction)
    end

    # The job as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      job = V1::PendingJob.new
      Fields.set_all(job, self, path, %w[id])
      Fields.add(job, "timed_out_lane_names", timed_out_lane_names, "#{path}.timed_out_lane_names")
      job.prediction = prediction.to_message("#{path}.prediction") if prediction
      job
    end
  end

  # The state of a lane. Spans are in seconds.
  LaneState = Value.define(:lane_name, :backlog_count, :mean_run_time, :longest_wait, :busy_worker_count) do
    # @param backlog_count the jobs that wait for this lane: a job waits for the fastest lane that may run it
    # @param mean_run_time how long an attempt takes in this lane on average. Default: derived from longest_wait;
    #   without it, the lane's timeout; without a timeout, ten times the timeout of the lane before
    # @param longest_wait how long the job that has waited longest has waited
    # @param busy_worker_count workers that run a job, and stay
    def initialize(lane_name:, backlog_count: 0, mean_run_time: nil, longest_wait: nil, busy_worker_count: 0)
      super
    end

    # The state as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      state = V1::LaneState.new
      Fields.set_all(state, self, path, %w[lane_name backlog_count busy_worker_count])
      Fields.set_spans(state, self, path, %w[mean_run_time longest_wait])
      state
    end
  end

  # A split of the workers. `lane_set` has the lanes with the workers that they should have: pass it to the next calls.
  # `workloads` are the {LaneWorkload}s of the lanes, in their order.
  WorkerSplit = Value.define(:lane_set, :workloads) do
    def self.of(message)
      new(lane_set: LaneSet.of(message.lane_set), workloads: message.workloads.map { |load| LaneWorkload.of(load) })
    end
  end

  # The work that waits for a lane: backlog times mean run time, in microseconds.
  LaneWorkload = Value.define(:lane_name, :workload_micros) do
    def self.of(message)
      new(lane_name: message.lane_name, workload_micros: message.workload_micros)
    end
  end
end
