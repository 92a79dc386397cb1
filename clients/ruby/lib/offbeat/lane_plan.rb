# frozen_string_literal: true

require_relative "lanes_by_type"
require_relative "run_times"
require_relative "v1beta1/lane_planning_pb"
require_relative "value"

module Offbeat
  # A plan. All alternatives are simulated with the same streams of jobs, which arrive independently of one another.
  # Figures are medians over the streams. Spans are in seconds.
  #
  # verdict:: :lanes, if it is certain that lanes lower the mean slowdown by at least a twentieth, also lower the mean
  #           slowdown times the fourth root of the mean sojourn, and are stable with a fifth more arrivals, if one
  #           queue then fills less than 90 % of the workers' time. :lanes_by_type, if the same holds for lanes by type,
  #           and lanes with timeouts are not clearly better. :no_lanes, if lanes are no better: use one queue for all
  #           workers. :undecided, if the streams differ too much, because a few long jobs decide: lanes may help much,
  #           or not at all.
  # lane_set:: the best lanes with timeouts that were found; with other verdicts too, for comparison. They have the
  #            least mean slowdown times the fourth root of the mean sojourn, so that short jobs come first, but not at
  #            any price for long ones. nil if none can keep up with the arrivals. Pass it to the other calls as it is.
  # cutoffs:: cutoffs between two lanes, rising.
  # stream_count:: how many streams were simulated with these lanes, and with one queue; each has stream_job_count jobs.
  # slowdown_ratio, sojourn_ratio:: the mean slowdown and the mean sojourn with lanes, each divided by that without
  #                                 lanes; nil without a lane_set.
  # run_time_classes:: jobs by the lane that their run time ends in: which of them wait less, and which wait more.
  # messages:: the verdict and what speaks against the lanes, one sentence each.
  # lanes_by_type:: the best {LanesByType} that were found; with other verdicts too. nil without types, or if none keep
  #                 up.
  # job_types:: the types of job ({JobTypeFigures}), those with the longest mean run times first.
  LanePlan = Value.define(:verdict, :lane_set, :with_lanes, :without_lanes, :sensitivities, :cutoffs,
                          :slowdown_floor, :mean_run_time, :utilization, :stream_count, :stream_job_count,
                          :slowdown_ratio, :sojourn_ratio, :run_time_classes, :messages,
                          :lanes_by_type, :job_types) do
    def self.of(message)
      plain = %i[utilization stream_count stream_job_count].to_h { |name| [name, message[name.to_s]] }
      new(verdict: Fields.symbol(message.verdict, "LANE_VERDICT_"),
          lane_set: message.lane_set && LaneSet.of(message.lane_set),
          with_lanes: LanePerformance.of(message.with_lanes), without_lanes: LanePerformance.of(message.without_lanes),
          sensitivities: message.sensitivities.map { |sensitivity| LaneSensitivity.of(sensitivity) },
          cutoffs: message.cutoffs.map { |cutoff| CutoffFigures.of(cutoff) },
          slowdown_floor: Times.from_optional(message.slowdown_floor),
          mean_run_time: Times.from_optional(message.mean_run_time),
          slowdown_ratio: RatioInterval.of(message.slowdown_ratio),
          sojourn_ratio: RatioInterval.of(message.sojourn_ratio),
          run_time_classes: message.run_time_classes.map { |jobs| RunTimeClass.of(jobs) },
          messages: message.messages.to_a, lanes_by_type: LanesByType.of(message.lanes_by_type),
          job_types: message.job_types.map { |type| JobTypeFigures.of(type) }, **plain)
    end
  end

  # A ratio of two figures over the same streams of jobs: the geometric mean, and the ends of its 95 % interval.
  RatioInterval = Value.define(:estimate, :low, :high) do
    def self.of(message)
      message && new(estimate: message.estimate, low: message.low, high: message.high)
    end
  end

  # The range of a figure in nine of ten streams of jobs.
  FigureRange = Value.define(:low, :high) do
    def self.of(message)
      message && new(low: message.low, high: message.high)
    end
  end

  # The range of a span in nine of ten streams of jobs, in seconds.
  DurationRange = Value.define(:low, :high) do
    def self.of(message)
      message && new(low: Times.from_optional(message.low), high: Times.from_optional(message.high))
    end
  end

  # Jobs of about one length, and how they fare, with lanes and with one queue. max_run_time is the longest run time;
  # nil in the last class. job_ratio is the share of all jobs, 0 to 1. sample_count is how many run times of the request
  # are in this class; nil unless the request had samples. Mean waits are from arrival to first start, mean sojourns
  # from arrival to end; both are medians over the streams.
  RunTimeClass = Value.define(:max_run_time, :job_ratio, :sample_count, :mean_wait_with_lanes, :mean_wait_without_lanes,
                              :mean_sojourn_with_lanes, :mean_sojourn_without_lanes) do
    def self.of(message)
      spans = %i[max_run_time mean_wait_with_lanes mean_wait_without_lanes
                 mean_sojourn_with_lanes mean_sojourn_without_lanes]
      new(**spans.to_h { |name| [name, Times.from_optional(message[name.to_s])] },
          job_ratio: message.job_ratio, sample_count: message.has_sample_count? ? message.sample_count : nil)
    end
  end

  # The simulated performance of lanes or of one queue: medians over the streams of jobs. Slowdown is bounded: max(1,
  # sojourn / max(run time, floor)). Waits are from arrival to first start, sojourns from arrival to end. wasted_ratio
  # is the share of the time spent on jobs that is lost because attempts are aborted. The ranges say how the means
  # differ from stream to stream. Unless stable, the workers do not keep up with the arrivals, and the other figures
  # mean nothing.
  LanePerformance = Value.define(:mean_slowdown, :p95_slowdown, :mean_wait, :p95_wait, :mean_sojourn, :p95_sojourn,
                                 :wasted_ratio, :stable, :mean_slowdown_range, :mean_sojourn_range) do
    def self.of(message)
      return unless message

      spans = %i[mean_wait p95_wait mean_sojourn p95_sojourn]
      new(**spans.to_h { |name| [name, Times.from_optional(message[name.to_s])] },
          mean_slowdown: message.mean_slowdown, p95_slowdown: message.p95_slowdown,
          wasted_ratio: message.wasted_ratio, stable: message.stable,
          mean_slowdown_range: FigureRange.of(message.mean_slowdown_range),
          mean_sojourn_range: DurationRange.of(message.mean_sojourn_range))
    end
  end

  # Performance at another arrival rate, in jobs per second: with the lane_set of the plan (nil if there is none), with
  # one queue for all workers, and with its lanes_by_type (nil if there are none).
  LaneSensitivity = Value.define(:arrival_rate, :with_lanes, :without_lanes, :by_type) do
    def self.of(message)
      new(arrival_rate: message.arrival_rate, with_lanes: LanePerformance.of(message.with_lanes),
          without_lanes: LanePerformance.of(message.without_lanes), by_type: LanePerformance.of(message.by_type))
    end
  end

  # A cutoff between two lanes (the attempt timeout of the express lane, in seconds), with the split of the workers that
  # is best by formula. The mean slowdown and the mean sojourn are those of four streams of jobs. They are nil unless
  # the cutoff is stable, that is, unless the workers keep up with the arrivals. stable_with_more_arrivals says whether
  # they also keep up with a fifth more, or one queue would then fill 90 % of their time; lanes without this are not
  # planned. mean_slowdown_range says how the mean slowdown differs from stream to stream.
  CutoffFigures = Value.define(:cutoff, :express_worker_count, :mean_slowdown, :mean_sojourn, :stable,
                               :stable_with_more_arrivals, :mean_slowdown_range) do
    def self.of(message)
      new(cutoff: Times.from_optional(message.cutoff), express_worker_count: message.express_worker_count,
          mean_slowdown: message.has_mean_slowdown? ? message.mean_slowdown : nil,
          mean_sojourn: Times.from_optional(message.mean_sojourn), stable: message.stable,
          stable_with_more_arrivals: message.stable_with_more_arrivals,
          mean_slowdown_range: FigureRange.of(message.mean_slowdown_range))
    end
  end
end
