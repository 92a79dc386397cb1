# frozen_string_literal: true

module Offbeat
  # Holds a job to the timeout of its {LaneRoute}. It counts from when it is made, by the monotonic clock.
  #
  #   deadline = Offbeat::AttemptDeadline.new(route)
  #   rows.each do |row|
  #     deadline.check! # raises AttemptTimedOut when the time is up
  #     export(row)
  #   end
  #
  # Nothing is interrupted: a job that never checks is never stopped. What may wait long, waits for no longer
  # than {#remaining}. A job that is to be suspended, not aborted, asks {#expired?} and keeps what it has done.
  class AttemptDeadline
    attr_reader :route

    def initialize(route)
      @route = route
      @end = route.attempt_timeout && (now + route.attempt_timeout)
    end

    # What is left of the attempt, in seconds; nil if it may run as long as it likes: what Ruby's own
    # timeouts take.
    def remaining
      @end && [@end - now, 0.0].max
    end

    # Whether the time is up.
    def expired?
      !@end.nil? && now >= @end
    end

    # Raises {AttemptTimedOut} if the time is up.
    def check!
      raise AttemptTimedOut, route if expired?
    end

    private

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
