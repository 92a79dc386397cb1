# frozen_string_literal: true

module Offbeat
  # Asks about the lanes of jobs.
  class Client
    # Routes the next attempt of a job: a {LaneRoute}, or a {PermanentFailure} if the job has exceeded the timeout of
    # the last lane.
    #
    # @param timed_out_lane_names the lanes whose timeout the job has exceeded, in any order
    # @param prediction a {LanePrediction}
    # @param worker_lane_name the lane of the free worker that has taken the job from a queue: the route is in this
    #   lane, unless the job must start in a slower one
    def route_job(lane_set, timed_out_lane_names: [], prediction: nil, worker_lane_name: nil, timeout: nil)
      request = V1::RouteJobRequest.new(lane_set: lane_set.to_message)
      Fields.add(request, "timed_out_lane_names", timed_out_lane_names)
      request.prediction = prediction.to_message("prediction") if prediction
      Offbeat.set_field(request, "worker_lane_name", worker_lane_name)
      response = call("RouteJob", request, V1::RouteJobResponse, timeout, service: "v1.LaneService")
      return PermanentFailure.of(response.permanent_failure) if outcome(response) == :permanent_failure

      LaneRoute.of(response.route)
    end

    # Which {PendingJob}s the free workers take, as {DispatchedJobs}.
    #
    # @param jobs the waiting jobs, in their order
    # @param free_workers how many workers of each lane are free, by the name of the lane: { "express" => 1 }. Other
    #   lanes have none
    def dispatch_jobs(lane_set, jobs, free_workers:, timeout: nil)
      request = V1::DispatchJobsRequest.new(lane_set: lane_set.to_message)
      add_free_workers(request, free_workers)
      Fields.add_messages(request, "jobs", jobs, PendingJob)
      DispatchedJobs.of(call("DispatchJobs", request, V1::DispatchJobsResponse, timeout, service: "v1.LaneService"))
    end

    # Splits the workers among the lanes by the work that waits in each: a {WorkerSplit}.
    #
    # @param states {LaneState}s, each lane at most once. A lane without one has no backlog and no busy worker
    # @param worker_count workers in all. Default: as many as the lanes have
    # @param max_move_count hysteresis: at most this many workers move. Moves that a new worker_count forces do not
    #   count. Default: any number
    # @param min_improvement_percent hysteresis: workers move only if the score falls by at least this. Default: 0
    def split_workers(lane_set, states, worker_count: nil, max_move_count: nil, min_improvement_percent: nil,
                      timeout: nil)
      request = V1::SplitWorkersRequest.new(lane_set: lane_set.to_message)
      Fields.add_messages(request, "states", states, LaneState)
      { worker_count: worker_count, max_move_count: max_move_count, min_improvement_percent: min_improvement_percent }
        .each { |name, value| Offbeat.set_field(request, name.to_s, value) }
      WorkerSplit.of(call("SplitWorkers", request, V1::SplitWorkersResponse, timeout, service: "v1.LaneService"))
    end

    # Plans lanes, or says that there should be none: a {LanePlan}. Beta: it may change in ways that break callers.
    #
    # @param run_times how long jobs run, each on a worker of its own: an Enumerable of seconds, a Hash of job types to
    #   such Enumerables (lanes by type are then compared too), a {RunTimeHistogram} or {RunTimePercentiles}
    # @param arrival_rate jobs that arrive per second
    # @param worker_count workers in all
    # @param tolerated_wait how long people accept waiting until their job starts, in seconds: no express timeout is
    #   longer than this. Default: no bound
    # @param slowdown_floor lower bound on the run times that slowdown is computed with, in seconds. Default: the 10th
    #   percentile of the run times
    # @param on_timeout :abort, the default, or :suspend
    # @param max_lane_count 2 or 3, the default
    # @param seed the seed of the simulation: the same request with the same seed has the same answer. Default: 0
    def plan_lanes(run_times, arrival_rate:, worker_count:, tolerated_wait: nil, slowdown_floor: nil, on_timeout: nil,
                   max_lane_count: nil, seed: nil, timeout: nil)
      request = V1beta1::PlanLanesRequest.new(run_times_field(run_times))
      { arrival_rate: arrival_rate, worker_count: worker_count, max_lane_count: max_lane_count,
        seed: seed }.each { |name, value| Offbeat.set_field(request, name.to_s, value) }
      request.tolerated_wait = Times.to_duration("tolerated_wait", tolerated_wait) if tolerated_wait
      request.slowdown_floor = Times.to_duration("slowdown_floor", slowdown_floor) if slowdown_floor
      request.on_timeout = Offbeat.named("on_timeout", on_timeout, LaneSet::TIMEOUT_ACTIONS) if on_timeout
      LanePlan.of(call("PlanLanes", request, V1beta1::PlanLanesResponse, timeout, service: "v1beta1.LanePlanningService"))
    end

    private

    def add_free_workers(request, free_workers)
      raise Offbeat.refused("free_workers", free_workers, "must be a Hash of lane names to counts") unless free_workers.is_a?(Hash)

      Fields.each_indexed(free_workers, "free_workers") do |(lane_name, count), place|
        free = V1::FreeWorkers.new
        Offbeat.set_field(free, "lane_name", lane_name, "#{place}.lane_name")
        Offbeat.set_field(free, "worker_count", count, "#{place}.worker_count")
        request.free_workers << free
      end
    end

    # Run times under the name of the field that takes them.
    def run_times_field(run_times)
      case run_times
      when RunTimeHistogram then { histogram: run_times.to_message }
      when RunTimePercentiles then { percentiles: run_times.to_message }
      when Hash then { samples_by_type: samples_by_type(run_times) }
      else
        samples = V1beta1::RunTimeSamples.new
        add_samples(samples, run_times, "samples")
        { samples: samples }
      end
    end

    def samples_by_type(types)
      samples = V1beta1::RunTimeSamplesByType.new
      Fields.each_indexed(types.sort_by { |name, _| name.to_s }, "samples_by_type.types") do |(name, run_times), place|
        type = V1beta1::JobTypeSamples.new
        Offbeat.set_field(type, "name", name.is_a?(Symbol) ? name.to_s : name, "#{place}.name")
        add_samples(type, run_times, place)
        samples.types << type
      end
      samples
    end

    def add_samples(message, run_times, path)
      Fields.each_indexed(run_times, "#{path}.run_time_micros") do |span, place|
        message.run_time_micros << Times.to_micros(place, span)
      end
    end
  end
end
