# frozen_string_literal: true

require_relative "../v1/lateness_pb"

module Offbeat
  # Tells the sidecar how late runs started, for whoever scrapes its metrics and not those of the workers.
  class Client
    # Records seconds from the scheduled to the real start of runs: at most 65,536; what started early counts
    # as 0. {Lateness} does this for a job, and fails none.
    #
    # @param schedule what stands for the schedule in the metric's labels: its name, not its version
    # @return whether the schedule and kind have a series of their own; after the first 100 pairs, others are
    #   counted together as "other"
    def record_lateness(schedule, latenesses, kind: nil, timeout: nil)
      request = V1::RecordLatenessRequest.new
      Offbeat.set_field(request, "schedule", schedule)
      Offbeat.set_field(request, "kind", kind)
      Fields.each_indexed(latenesses, "lateness_millis") do |lateness, place|
        request.lateness_millis << (Times.to_micros(place, lateness) / 1_000r).round
      end
      call("RecordLateness", request, V1::RecordLatenessResponse, timeout, service: "LatenessService").own_series
    end
  end
end
