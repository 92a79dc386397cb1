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
end
