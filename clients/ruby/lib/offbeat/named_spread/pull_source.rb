# frozen_string_literal: true

module Offbeat
  module Named
    # Jobs for a {Consumer}, by a call for each batch.
    class PullSource
      # @param settled is told each job and what its verdict came to
      def initialize(calls, consumer, batch_size, wait, settled)
        @calls, @consumer, @batch_size = calls, consumer, batch_size
        @wait, @settled = Named.span("wait", wait), settled
      end

      # The next jobs, maybe none; nil if there will never be any.
      def jobs
        jobs, ended = @calls.pull(@consumer, @batch_size, @wait, attempts: 1)
        jobs unless ended
      end

      # Sends verdicts on jobs of one epoch.
      def settle(batch)
        settlements = @calls.settle(batch, attempts: 1)
        batch.zip(settlements) { |(job, *), settlement| @settled.call(job, settlement) }
      end

      # There are none: they come with their call.
      def await_settlements; end

      # Nobody counts.
      def taken; end

      # Nothing is on the way.
      def close
        []
      end
    end
  end
end
