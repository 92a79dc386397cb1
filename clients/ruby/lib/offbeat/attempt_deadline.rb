# frozen_string_literal: true

module Offbeat
  # Enforces the timeout of a {LaneRoute}. Time counts from when this object is made, by the monotonic clock.
  #
  #   deadline = Offbeat::AttemptDeadline.new(route)
  #   rows.each do |row|
  #     deadline.check! # raises AttemptTimedOut when the time is up
  #     export(row)
  #   end
  #
  # Nothing is interrupted: a job that never checks is never stopped. Use {#remaining} as the timeout of operations that
  # may wait long. A job that is suspended instead of aborted checks {#expired?} and keeps what it has done.
  class AttemptDeadline
    attr_reader :route

    def initialize(route)
      @route = route
      @end = route.attempt_timeout && (now + route.attempt_timeout)
    end

    # The rest of the attempt, in seconds; nil if there is no timeout. Ruby's own timeouts take either.
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
