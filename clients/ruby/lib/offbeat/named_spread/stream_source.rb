# frozen_string_literal: true

module Offbeat
  module Named
    # A source of jobs for a {Consumer}, over a stream. Jobs arrive as soon as there are any, up to `window` jobs ahead.
    # If the stream breaks off, the next call starts it again.
    class StreamSource
      MOST_JOBS = 65_536
      # A stream that takes longer than LONG_START seconds to start is started again, up to STARTS times in all.
      LONG_START = 0.1
      STARTS = 3

      # @param settled is called with each job and the outcome of its settlement
      def initialize(calls, consumer_id, window, settled)
        @calls, @settled, @window = calls, settled, window
        unless window.is_a?(Integer) && window.between?(1, MOST_JOBS)
          raise Offbeat.refused("window", window, "must be 1 to #{MOST_JOBS} jobs")
        end

        @start = @calls.message(V1::StreamJobsStart, consumer_id: consumer_id)
        @conversation, @clock, @arrived, @in_flight, @used = nil, nil, [], [], 0
      end

      # Waits for the next jobs; nil once the spread has ended.
      def jobs
        guarded do
          settle_in_flight unless @conversation
          connect unless @conversation
          nil while @arrived.empty? && receive(nil)
          @arrived.slice!(0..) unless @arrived.empty?
        end
      end

      # Sends settlements of jobs of one epoch: on the stream, which answers them later, or by a call if there is no
      # stream.
      def settle(batch)
        guarded do
          next settle_by_call(batch) unless @conversation

          message = V1::JobSettlements.new(epoch: batch[0][0].epoch, settlements: @calls.settlement_messages(batch))
          write(settlements: message)
          @in_flight.concat(batch)
        end
      end

      # Waits for the results of all settlements that were sent.
      def await_results
        guarded do
          @conversation ? receive(@calls.timeout) : settle_in_flight until @in_flight.empty?
        end
      end

      # Counts a job that was taken out of the window, and grants the sidecar new credit once half of the window is used
      # up.
      def taken
        @used += 1
        return if @conversation.nil? || @used * 2 < @window

        guarded { write(credit: V1::JobCredit.new(job_count: @used)) }
        @used = 0
      rescue Unavailable, DeadlineExceeded
        nil # the next call connects again
      end

      # Ends the stream. Returns the jobs that were in flight.
      def close
        guarded do
          if @conversation
            @conversation.within(@calls.timeout)
            @conversation.finish
            nil while receive(@calls.timeout)
          end
        end
        @arrived.slice!(0..)
      rescue Unavailable, DeadlineExceeded
        @arrived.slice!(0..)
      end

      private

      # The stream counts as started when it was requested, since it cannot have started earlier. So no lease seems
      # longer than it is, but each seems shorter by the time that the start took. After a slow start, another one is
      # tried.
      def connect
        STARTS.times do
          disconnect
          break if start_stream < LONG_START
        end
        @used = 0
        write(credit: V1::JobCredit.new(job_count: @window))
      end

      # Starts a stream, and relates the clock of the sidecar to that of this process. Returns how long the start took.
      def start_stream
        @conversation, @clock = @calls.converse, nil
        asked = Named.now
        write(start: @start)
        until @clock
          receive(@calls.timeout) { |uptime| @clock = asked - uptime } or raise Unavailable, "the stream ended before it started"
        end
        Named.now - asked
      end

      def write(**message)
        @conversation.within(@calls.timeout)
        @conversation.write(V1::StreamJobsRequest.encode(V1::StreamJobsRequest.new(**message)))
      end

      # Receives a message; false if the stream has ended.
      def receive(timeout)
        @conversation.within(timeout)
        bytes = @conversation.read or return disconnect
        response = V1::StreamJobsResponse.decode(bytes)
        case response.message
        when :started then yield Times.from_duration(response.started.uptime)
        when :leased then @arrived.concat(leased_jobs(response.leased))
        when :settle_results then take_results(response.settle_results.results)
        end
        true
      end

      # The jobs of a message. Their leases began at a time that the clock of the sidecar gives, but not later than now.
      def leased_jobs(leased)
        @calls.jobs(leased, [@clock + Times.from_duration(leased.lease_start_uptime), Named.now].min)
      end

      def take_results(results)
        answered = @in_flight.shift(results.size)
        answered.zip(results) { |(job, *), result| @settled.call(job, SettleResult.of(result).outcome) }
      end

      # Settlements whose results were lost with the stream are sent again.
      def settle_in_flight
        until @in_flight.empty?
          batch = Named.batch(@in_flight)
          settle_by_call(batch)
          @in_flight.shift(batch.size)
        end
      end

      def settle_by_call(batch)
        results = @calls.settle(batch, attempts: 1)
        batch.zip(results) { |(job, *), result| @settled.call(job, result.outcome) }
      end

      # Closes the stream if the block is interrupted or raises an error: the stream may then contain half of a message.
      def guarded
        result = yield
        whole = true
        result
      rescue NotFound
        @calls.open(leave_closed: true)
        raise
      ensure
        disconnect unless whole
      end

      def disconnect
        @conversation&.close
        @conversation = nil
        false
      end
    end
  end
end
