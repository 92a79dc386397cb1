# frozen_string_literal: true

require_relative "v1beta1/lane_planning_pb"
require_relative "value"

module Offbeat
  # Two lanes without timeouts: jobs of the slow types go to the slow lane, all others to the express lane. Workers of
  # the slow lane take jobs of its types first, and others if there are none; workers of the express lane take no jobs
  # of the slow types.
  #
  # slow_type_names:: the slow types, those with the longest mean run times first.
  # performance:: the performance of these lanes: a {LanePerformance}.
  # stable_with_more_arrivals:: whether the workers also keep up with a fifth more arrivals, or one queue would then
  #                             fill 90 % of their time.
  # slowdown_ratio, sojourn_ratio:: the mean slowdown and the mean sojourn, each divided by that with one queue.
  # slowdown_ratio_to_timeouts, sojourn_ratio_to_timeouts:: the same, divided by those with the lane_set of the plan;
  #                                                         nil without a lane_set.
  LanesByType = Value.define(:slow_type_names, :express_worker_count, :slow_worker_count, :performance,
                             :stable_with_more_arrivals, :slowdown_ratio, :sojourn_ratio,
                             :slowdown_ratio_to_timeouts, :sojourn_ratio_to_timeouts) do
    def self.of(message)
      return unless message

      ratios = %i[slowdown_ratio sojourn_ratio slowdown_ratio_to_timeouts sojourn_ratio_to_timeouts]
      plain = %i[express_worker_count slow_worker_count stable_with_more_arrivals]
      new(**ratios.to_h { |name| [name, RatioInterval.of(message[name.to_s])] },
          **plain.to_h { |name| [name, message[name.to_s]] },
          slow_type_names: message.slow_type_names.to_a, performance: LanePerformance.of(message.performance))
    end
  end

  # A type of job, and how its jobs fare. sample_count is how many run times of the request are of this type. job_ratio
  # and work_ratio are its shares of all jobs and of all run time, 0 to 1. timeout_ratio is the share of its jobs that
  # run longer than the attempt timeout of the express lane of the plan's lane_set; nil without a lane_set. Mean
  # sojourns are from arrival to end, and medians over the streams of jobs; the one with lanes is nil without a
  # lane_set, and the one by type without lanes_by_type.
  JobTypeFigures = Value.define(:name, :sample_count, :job_ratio, :work_ratio, :mean_run_time, :p50_run_time, :p99_run_time,
                                :max_run_time, :timeout_ratio, :mean_sojourn_with_lanes, :mean_sojourn_by_type,
                                :mean_sojourn_without_lanes) do
    def self.of(message)
      spans = %i[mean_run_time p50_run_time p99_run_time max_run_time
                 mean_sojourn_with_lanes mean_sojourn_by_type mean_sojourn_without_lanes]
      plain = %i[name sample_count job_ratio work_ratio]
      new(**spans.to_h { |name| [name, Times.from_optional(message[name.to_s])] },
          **plain.to_h { |name| [name, message[name.to_s]] },
          timeout_ratio: message.has_timeout_ratio? ? message.timeout_ratio : nil)
    end
  end
end
