# frozen_string_literal: true

module Offbeat
  # Asks about the lanes of jobs.
  class Client
    # Where a job's next attempt runs: a {LaneRoute}, or a {PermanentFailure} once it has reached the timeout
    # of the last lane. `timed_out_lanes` names the lanes in which it reached the timeout, in any order;
    # `prediction` is a {LanePrediction}; `worker_lane` names the lane of the free worker that has taken the job
    # from a queue: the route is there, unless the job begins in a slower lane.
    def route_job(lane_set, timed_out_lanes: [], prediction: nil, worker_lane: nil, timeout: nil)
      request = V1::RouteJobRequest.new(lane_set: lane_set.to_message)
      Fields.add(request, "timed_out_lanes", timed_out_lanes)
      request.prediction = prediction.to_message("prediction") if prediction
      Offbeat.set_field(request, "worker_lane", worker_lane)
      response = call("RouteJob", request, V1::RouteJobResponse, timeout, service: "LaneService")
      return PermanentFailure.of(response.permanent_failure) if outcome(response) == :permanent_failure

      LaneRoute.of(response.route)
    end

    # Which {PendingJob}s the free workers take, as {DispatchedJobs}. The jobs stand in their order, and the
    # counts of free workers in that of the lanes.
    def dispatch_jobs(lane_set, jobs, free_worker_counts:, timeout: nil)
      request = V1::DispatchJobsRequest.new(lane_set: lane_set.to_message)
      Fields.add(request, "free_worker_counts", free_worker_counts)
      Fields.add_messages(request, "jobs", jobs, PendingJob)
      DispatchedJobs.of(call("DispatchJobs", request, V1::DispatchJobsResponse, timeout, service: "LaneService"))
    end

    # Splits workers between the lanes anew, by what waits in each: a {WorkerSplit}. There is one {LaneState}
    # for each lane, in the order of the lanes; the workers are as many as the lanes have, unless
    # `worker_count` says otherwise.
    def split_workers(lane_set, states, worker_count: nil, timeout: nil)
      request = V1::SplitWorkersRequest.new(lane_set: lane_set.to_message)
      Fields.add_messages(request, "states", states, LaneState)
      Offbeat.set_field(request, "worker_count", worker_count)
      WorkerSplit.of(call("SplitWorkers", request, V1::SplitWorkersResponse, timeout, service: "LaneService"))
    end

    # Plans lanes, or says that there should be none: a {LanePlan}.
    #
    # @param run_times how long jobs run, each on a worker of its own: an Enumerable of seconds, a
    #   {RunTimeHistogram} or {RunTimePercentiles}
    # @param arrival_rate jobs that arrive, per second
    # @param worker_count workers in all
    # @param tolerated_wait how long people tolerate to wait before their job starts, in seconds: no express
    #   timeout is longer. Default: no bound
    # @param slowdown_floor run times below this, in seconds, count as this when slowdown is reckoned.
    #   Default: the 10th percentile of the run times
    # @param on_timeout :abort, the default, or :suspend
    # @param max_lane_count 2 or 3, the default
    # @param seed of the simulation: the same question with the same seed has the same answer. Default: 0
    def plan_lanes(run_times, arrival_rate:, worker_count:, tolerated_wait: nil, slowdown_floor: nil, on_timeout: nil,
                   max_lane_count: nil, seed: nil, timeout: nil)
      request = V1::PlanLanesRequest.new(run_times_field(run_times))
      { arrival_rate: arrival_rate, worker_count: worker_count, max_lane_count: max_lane_count,
        seed: seed }.each { |name, value| Offbeat.set_field(request, name.to_s, value) }
      request.tolerated_wait = Times.to_duration("tolerated_wait", tolerated_wait) if tolerated_wait
      request.slowdown_floor = Times.to_duration("slowdown_floor", slowdown_floor) if slowdown_floor
      request.on_timeout = Offbeat.named("on_timeout", on_timeout, LaneSet::TIMEOUT_ACTIONS) if on_timeout
      LanePlan.of(call("PlanLanes", request, V1::PlanLanesResponse, timeout, service: "LaneService"))
    end

    private

    # Run times under the name of the field that takes them.
    def run_times_field(run_times)
      case run_times
      when RunTimeHistogram then { histogram: run_times.to_message }
      when RunTimePercentiles then { percentiles: run_times.to_message }
      else
        samples = V1::RunTimeSamples.new
        Fields.each_indexed(run_times, "samples.micros") { |span, place| samples.micros << Times.to_micros(place, span) }
        { samples: samples }
      end
    end
  end
end
