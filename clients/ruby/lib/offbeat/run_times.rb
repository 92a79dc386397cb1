# frozen_string_literal: true

require_relative "v1beta1/lane_planning_pb"
require_relative "value"

module Offbeat
  # Counts of jobs by run time: a Hash from upper bounds, in seconds and in rising order, to counts. Each count is of
  # the jobs that ran longer than the bound before, and at most as long as its own.
  #
  #   Offbeat::RunTimeHistogram.new(buckets: { 1 => 900, 10 => 80, 600 => 20 })
  RunTimeHistogram = Value.define(:buckets) do
    def initialize(buckets:)
      super(buckets: buckets.to_h.dup.freeze)
    end

    # The histogram as a protobuf message.
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

  # Two figures of a lognormal distribution of run times, in seconds: the 90th percentile, and the median or the mean.
  RunTimePercentiles = Value.define(:p50, :p90, :mean) do
    def initialize(p90:, p50: nil, mean: nil)
      super
    end

    # The percentiles as a protobuf message.
    def to_message(path = "percentiles")
      percentiles = V1beta1::RunTimePercentiles.new
      Fields.set_spans(percentiles, self, path, %w[p50 p90 mean])
      percentiles
    end
  end
end
