# frozen_string_literal: true

module Offbeat
  module Named
    # Jobs for a {Consumer}, by a call for each batch.
    class PullSource
      # @param settled is called with each job and the outcome of its settlement
      def initialize(calls, consumer_id, batch_size, wait, settled)
        @calls, @consumer_id, @batch_size = calls, consumer_id, batch_size
        @wait, @settled = Named.span("max_wait_duration", wait), settled
      end

      # The next jobs, maybe none; nil if there will never be any.
      def jobs
        pulled = @calls.pull(@consumer_id, @batch_size, @wait, attempts: 1)
        pulled.jobs unless pulled.ended?
      end

      # Sends settlements of jobs of one epoch.
      def settle(batch)
        results = @calls.settle(batch, attempts: 1)
        batch.zip(results) { |(job, *), result| @settled.call(job, result.outcome) }
      end

      # Results come with their call.
      def await_results; end

      # Nothing is counted.
      def taken; end

      # Nothing is on its way.
      def close
        []
      end
    end
  end
end
