# frozen_string_literal: true

module Offbeat
  module Named
    # Retries calls that failed for a temporary reason: the sidecar is being restarted, or is full.
    class Patience
      LONGEST_PAUSE = 1.0
      PASSING = [Unavailable, DeadlineExceeded, ResourceExhausted, NotFound].freeze

      attr_reader :seconds

      # @param seconds how long to retry without success
      # @param pause the first pause between attempts, in seconds; it doubles each time, up to a second
      def initialize(seconds, pause)
        @seconds = Named.span("patience", seconds)
        @pause, @given_up = pause, false
      end

      # Whether the last {#attempt} gave up.
      def given_up?
        @given_up
      end

      # @param deadline when the caller's own timeout ends, by the monotonic clock; nil for none
      def attempt(deadline = nil)
        failing_since, pause = nil, @pause
        begin
          yield.tap { @given_up = false }
        rescue *PASSING => e
          raise if e.is_a?(ResourceExhausted) && e.retry_delay.nil? # the same call would be refused again

          now = Named.now
          failing_since ||= now
          left = failing_since + seconds - now
          give_up(e) unless left.positive?
          raise DeadlineExceeded, "not done in time: #{e.message}" if deadline && now >= deadline

          sleep([e.retry_delay || pause, left, deadline && (deadline - now)].compact.min)
          pause = [2 * pause, LONGEST_PAUSE].min
          retry
        end
      end

      private

      def give_up(error)
        @given_up = true
        raise error
      end
    end
  end
end
