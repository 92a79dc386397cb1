# frozen_string_literal: true

require_relative "v1/lanes_pb"
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
      histogram = V1::RunTimeHistogram.new
      Fields.each_indexed(buckets, "#{path}.buckets") do |(bound, count), place|
        bucket = V1::RunTimeBucket.new(upper_bound: Times.to_duration("#{place}.upper_bound", bound))
        Offbeat.set_field(bucket, "count", count, "#{place}.count")
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
      percentiles = V1::RunTimePercentiles.new
      Fields.set_spans(percentiles, self, path, %w[p50 p90 mean])
      percentiles
    end
  end

  # A plan. `verdict` is :lanes, or :no_lanes where they make it no better: one queue for all workers then.
  # `lane_set` has the best lanes that were found (also with :no_lanes, to be compared; nil if none keep up
  # with the arrivals), and may be asked with as it is. Spans are in seconds.
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

  # How jobs fare, simulated: bounded slowdown, max(1, sojourn / max(run time, floor)); waits, from the
  # arrival to the first start; sojourns, from the arrival to the end; and the share of the workers' time
  # that is lost by aborting. If it is not stable, the workers do not keep up, and all other figures are
  # worth nothing.
  LanePerformance = Value.define(:mean_slowdown, :p95_slowdown, :mean_wait, :p95_wait, :mean_sojourn, :p95_sojourn,
                                 :wasted_share, :is_stable) do
    def self.of(message)
      return unless message

      spans = %i[mean_wait p95_wait mean_sojourn p95_sojourn]
      new(**spans.to_h { |name| [name, Times.from_optional(message[name.to_s])] },
          mean_slowdown: message.mean_slowdown, p95_slowdown: message.p95_slowdown,
          wasted_share: message.wasted_share, is_stable: message.is_stable)
    end
  end

  # How jobs fare at another rate of arrival, per second: with the lanes of the plan (nil if there are
  # none), and without.
  LaneSensitivity = Value.define(:arrival_rate, :with_lanes, :without_lanes) do
    def self.of(message)
      new(arrival_rate: message.arrival_rate, with_lanes: LanePerformance.of(message.with_lanes),
          without_lanes: LanePerformance.of(message.without_lanes))
    end
  end

  # What slowdown an express timeout has, in seconds, by formula.
  CutoffSlowdown = Value.define(:cutoff, :express_worker_count, :mean_slowdown) do
    def self.of(message)
      new(cutoff: Times.from_optional(message.cutoff), express_worker_count: message.express_worker_count,
          mean_slowdown: message.mean_slowdown)
    end
  end
end
