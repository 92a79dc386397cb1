# frozen_string_literal: true

require_relative "v1beta1/lane_planning_pb"
require_relative "value"

module Offbeat
  # How many jobs ran how long: a Hash of upper bounds, in seconds and rising, to counts. Each counts the
  # jobs that ran longer than the bound before it, and up to its own.
  #
  #   Offbeat::RunTimeHistogram.new(buckets: { 1 => 900, 10 => 80, 600 => 20 })
  RunTimeHistogram = Value.define(:buckets) do
    def initialize(buckets:)
      super(buckets: buckets.to_h.dup.freeze)
    end

    # The histogram as its message.
    def to_message(path = "histogram")
      histogram = V1beta1::RunTimeHistogram.new
      Fields.each_indexed(buckets, "#{path}.buckets") do |(bound, count), place|
        bucket = V1beta1::RunTimeBucket.new(upper_bound: Times.to_duration("#{place}.upper_bound", bound))
        Offbeat.set_field(bucket, "job_count", count, "#{place}.job_count")
        histogram.buckets << bucket
      end
      histogram
    end
  end

  # Two figures of a distribution of run times, in seconds: the median or the mean, and the 90th percentile.
  # It is taken for lognormal.
  RunTimePercentiles = Value.define(:p50, :p90, :mean) do
    def initialize(p90:, p50: nil, mean: nil)
      super
    end

    # The percentiles as their message.
    def to_message(path = "percentiles")
      percentiles = V1beta1::RunTimePercentiles.new
      Fields.set_spans(percentiles, self, path, %w[p50 p90 mean])
      percentiles
    end
  end

  # A plan. `verdict` is :lanes, or :no_lanes where lanes make it no better: use one queue for all workers then.
  # `lane_set` has the best lanes that were found, with :no_lanes too, for comparison; nil if none can keep up
  # with the arrivals. The other calls take it as it is. Spans are in seconds.
  LanePlan = Value.define(:verdict, :lane_set, :with_lanes, :without_lanes, :sensitivities, :cutoffs,
                          :slowdown_floor, :mean_run_time, :utilization, :simulated_job_count) do
    def self.of(message)
      new(verdict: Fields.symbol(message.verdict, "LANE_VERDICT_"),
          lane_set: message.lane_set && LaneSet.of(message.lane_set),
          with_lanes: LanePerformance.of(message.with_lanes), without_lanes: LanePerformance.of(message.without_lanes),
          sensitivities: message.sensitivities.map { |sensitivity| LaneSensitivity.of(sensitivity) },
          cutoffs: message.cutoffs.map { |cutoff| CutoffSlowdown.of(cutoff) },
          slowdown_floor: Times.from_optional(message.slowdown_floor),
          mean_run_time: Times.from_optional(message.mean_run_time),
          utilization: message.utilization, simulated_job_count: message.simulated_job_count)
    end
  end

  # Performance of lanes or of one queue, simulated: bounded slowdown, max(1, sojourn / max(run time, floor)); waits, from
  # arrival to first start; sojourns, from arrival to end; and the share of the time spent on jobs that is lost because
  # attempts are aborted. If it is not stable, the workers do not keep up with the arrivals, and the other figures mean
  # nothing.
  LanePerformance = Value.define(:mean_slowdown, :p95_slowdown, :mean_wait, :p95_wait, :mean_sojourn, :p95_sojourn,
                                 :wasted_ratio, :stable) do
    def self.of(message)
      return unless message

      spans = %i[mean_wait p95_wait mean_sojourn p95_sojourn]
      new(**spans.to_h { |name| [name, Times.from_optional(message[name.to_s])] },
          mean_slowdown: message.mean_slowdown, p95_slowdown: message.p95_slowdown,
          wasted_ratio: message.wasted_ratio, stable: message.stable)
    end
  end

  # Performance at another arrival rate, in jobs per second: with the lanes of the plan (nil if there are none), and with
  # one queue for all workers.
  LaneSensitivity = Value.define(:arrival_rate, :with_lanes, :without_lanes) do
    def self.of(message)
      new(arrival_rate: message.arrival_rate, with_lanes: LanePerformance.of(message.with_lanes),
          without_lanes: LanePerformance.of(message.without_lanes))
    end
  end

  # The slowdown of a cutoff between two lanes, in seconds: by formula, not simulated.
  CutoffSlowdown = Value.define(:cutoff, :express_worker_count, :mean_slowdown) do
    def self.of(message)
      new(cutoff: Times.from_optional(message.cutoff), express_worker_count: message.express_worker_count,
          mean_slowdown: message.mean_slowdown)
    end
  end
end
