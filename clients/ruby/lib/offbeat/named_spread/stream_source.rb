# frozen_string_literal: true

module Offbeat
  module Named
    # Jobs for a {Consumer}, over a stream: they come as soon as there are any, up to a window
    # of them ahead. What breaks off is begun again with the next call.
    class StreamSource
      MOST_JOBS = 65_536
      # How long a stream may take to begin, in seconds, and how often it is tried.
      LONG_BEGINNING = 0.1
      BEGINNINGS = 3

      # @param settled is told each job and what its verdict came to
      def initialize(calls, consumer, window, settled)
        @calls, @settled, @window = calls, settled, window
        unless window.is_a?(Integer) && window.between?(1, MOST_JOBS)
          raise Offbeat.refused("window", window, "must be 1 to #{MOST_JOBS} jobs")
        end

        @start = @calls.message(V1::StreamJobsStart, consumer: consumer)
        @conversation, @clock, @arrived, @in_flight, @used = nil, nil, [], [], 0
      end

      # The next jobs; nil if there will never be any.
      def jobs
        guarded do
          settle_in_flight unless @conversation
          connect unless @conversation
          nil while @arrived.empty? && receive(nil)
          @arrived.slice!(0..) unless @arrived.empty?
        end
      end

      # Sends verdicts on jobs of one epoch: on the stream, where they are answered in time.
      def settle(batch)
        guarded do
          next settle_by_call(batch) unless @conversation

          message = V1::JobVerdicts.new(epoch: batch[0][0].epoch, verdicts: @calls.verdict_messages(batch))
          write(verdicts: message)
          @in_flight.concat(batch)
        end
      end

      # Waits for the answers to all verdicts that were sent.
      def await_settlements
        guarded do
          @conversation ? receive(@calls.timeout) : settle_in_flight until @in_flight.empty?
        end
      end

      # A job was taken out of the window; says so when half of it is used up.
      def taken
        @used += 1
        return if @conversation.nil? || @used * 2 < @window

        guarded { write(credit: @used) }
        @used = 0
      rescue Unavailable, DeadlineExceeded
        nil # the next call connects again
      end

      # Ends the stream, and gives out the jobs that were on the way.
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

      # What the sidecar did when it began was not done before it was asked: so no lease seems
      # longer than it is, and each seems shorter by what the beginning took. After a long one,
      # another is tried.
      def connect
        BEGINNINGS.times do
          disconnect
          break if begin_stream < LONG_BEGINNING
        end
        @used = 0
        write(credit: @window)
      end

      # How long it took; relates the clock of the sidecar to ours.
      def begin_stream
        @conversation, @clock = @calls.converse, nil
        asked = Named.now
        write(start: @start)
        until @clock
          receive(@calls.timeout) { |at| @clock = asked - at } or raise Unavailable, "the stream ended before it began"
        end
        Named.now - asked
      end

      def write(**message)
        @conversation.within(@calls.timeout)
        @conversation.write(V1::StreamJobsRequest.encode(V1::StreamJobsRequest.new(**message)))
      end

      # Takes a message; false if the stream has ended.
      def receive(timeout)
        @conversation.within(timeout)
        bytes = @conversation.read or return disconnect
        response = V1::StreamJobsResponse.decode(bytes)
        case response.message
        when :started then yield Times.from_duration(response.started.at)
        when :leased then @arrived.concat(lent(response.leased))
        when :settled then take_settlements(response.settled.settlements)
        end
        true
      end

      # By the clock of the sidecar, but not later than now.
      def lent(leased)
        @calls.jobs(leased, [@clock + Times.from_duration(leased.lent_at), Named.now].min)
      end

      def take_settlements(settlements)
        answered = @in_flight.shift(settlements.size)
        answered.zip(settlements) { |(job, *), settlement| @settled.call(job, Fields.symbol(settlement, "SETTLEMENT_")) }
      end

      # Verdicts whose answers broke off with the stream are sent again.
      def settle_in_flight
        until @in_flight.empty?
          batch = Named.batch(@in_flight)
          settle_by_call(batch)
          @in_flight.shift(batch.size)
        end
      end

      def settle_by_call(batch)
        settlements = @calls.settle(batch, attempts: 1)
        batch.zip(settlements) { |(job, *), settlement| @settled.call(job, settlement) }
      end

      # No half of a message stays in the stream, whatever ends a call.
      def guarded
        result = yield
        whole = true
        result
      rescue NotFound
        @calls.open
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
