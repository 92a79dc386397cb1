# frozen_string_literal: true

module Offbeat
  module Named
    # A source of jobs for a {Consumer}: one call for each batch.
    class PullSource
      # @param settled is called with each job and the outcome of its settlement
      def initialize(calls, consumer_id, batch_size, wait, settled)
        @calls, @consumer_id, @batch_size = calls, consumer_id, batch_size
        @wait, @settled = Named.span("max_wait_duration", wait), settled
      end

      # The next jobs, possibly none; nil once the spread has ended.
      def jobs
        pulled = @calls.pull(@consumer_id, @batch_size, @wait, attempts: 1)
        pulled.jobs unless pulled.ended?
      end

      # Sends settlements of jobs of one epoch.
      def settle(batch)
        results = @calls.settle(batch, attempts: 1)
        batch.zip(results) { |(job, *), result| @settled.call(job, result.outcome) }
      end

      # The results came with the call that settled the jobs.
      def await_results; end

      # Pulls need no credit.
      def taken; end

      # No jobs are in flight.
      def close
        []
      end
    end
  end
end
