# frozen_string_literal: true

require_relative "../v1beta1/lateness_pb"

module Offbeat
  # Tells the sidecar how late runs started, for deployments that scrape its metrics but not those of the workers.
  class Client
    # Records the seconds from the scheduled to the actual start of at most 65,536 runs. A run that started early counts
    # as 0. {Lateness} does this for jobs, and never makes them fail. Beta: it may change in ways that break callers.
    #
    # @param schedule_name the schedule's label in the metric: its name without its version
    # @return whether the schedule and kind have a series of their own; after the first 100 pairs, others are
    #   counted together as "other"
    def record_lateness(schedule_name, latenesses, kind: nil, timeout: nil)
      request = V1beta1::RecordLatenessRequest.new
      Offbeat.set_field(request, "schedule_name", schedule_name)
      Offbeat.set_field(request, "kind", kind)
      Fields.each_indexed(latenesses, "lateness_millis") do |lateness, place|
        request.lateness_millis << (Times.to_micros(place, lateness) / 1_000r).round
      end
      call("RecordLateness", request, V1beta1::RecordLatenessResponse, timeout,
           service: "v1beta1.LatenessService").has_own_series
    end
  end
end
