# frozen_string_literal: true

module Offbeat
  # The jobs of a named spread that are leased to one consumer. The iteration ends when the spread is closed and all its
  # jobs are settled. Belongs to one thread.
  #
  # Settlements are sent before the consumer asks for more jobs; with the next job, once the oldest settlement is a
  # second old or half of a settled job's lease has passed; and by {#flush} and {#close}. While the sidecar cannot be
  # reached, calls are retried for up to `patience` seconds.
  class Consumer
    include Enumerable

    OLDEST_SETTLEMENT = 1.0 # seconds
    FIRST_PAUSE = 0.05 # seconds
    private_constant :OLDEST_SETTLEMENT, :FIRST_PAUSE

    # How many settlements came too late: those jobs may run twice.
    attr_reader :stale_count

    # @yield [settled] makes the source of jobs, which calls `settled` with each job and the outcome of its settlement
    def initialize(calls, patience)
      @calls, @patience = calls, Named::Patience.new(patience, FIRST_PAUSE)
      @source = yield method(:settled)
      @ready, @settlements, @settlements_due, @outcomes = [], [], nil, []
      @stale_count, @flushing, @closed = 0, false, false
      @released, @dropped = {}.compare_by_identity, 0
    end

    def each
      return enum_for(:each) unless block_given?

      while (job = next_job)
        yield job
      end
      self
    end

    # Sends the settlements that have not been sent, and waits for their results. Returns an Array of pairs, a job and
    # its outcome: :acked, :returned, :dead_lettered or :stale.
    def flush
      @outcomes, @flushing = [], true
      send_settlements
      @patience.attempt { @source.await_results }
      @outcomes
    ensure
      @flushing = false
    end

    # Sends the settlements, and releases jobs that this consumer has not yielded yet. A job that was yielded and not
    # settled stays leased until its lease ends.
    def close
      return if @closed

      @closed = true
      return @source.close if @patience.given_up?

      send_settlements
      @ready.concat(@source.close).each { |job| release(job) }
      @ready.clear
      flush
    end

    # Queues a settlement. {LeasedJob} calls this.
    def settle(job, action, delay: nil)
      raise Error, "the consumer is closed: the settlement would not be sent" if @closed

      @settlements << [job, action, delay]
      @settlements_due = [@settlements_due, Named.now + OLDEST_SETTLEMENT, job.settlement_due].compact.min
      nil
    end

    # Extends the lease of a job at once; false if it has ended. {LeasedJob} calls this.
    def extend_lease(job)
      return false if job.expired?

      results = @patience.attempt(job.lease_deadline) { @calls.settle([[job, :extend_lease]], attempts: 1) }
      results.first.outcome == :extended
    rescue Unavailable, DeadlineExceeded
      raise unless job.expired?

      false
    end

    private

    # The next job with an unexpired lease; nil once the spread has ended.
    def next_job
      raise Error, "the consumer is closed" if @closed

      loop do
        send_settlements if @settlements_due && Named.now >= @settlements_due
        job = @ready.shift
        next release(job) if job&.expired?

        drop_released
        if job.nil?
          more_jobs or return
          next
        end
        @source.taken
        return job
      end
    end

    # Releases a job that was not yielded: its attempt does not count, even if its lease has ended while it waited here.
    def release(job)
      @released[job] = true
      @settlements << [job, :release, nil]
      @dropped += 1
    end

    # Sends releases before it grants new credit: otherwise the same jobs could be leased to this consumer again before
    # they are released.
    def drop_released
      return if @dropped.zero?

      send_settlements
      @dropped.times { @source.taken }
      @dropped = 0
    end

    def more_jobs
      send_settlements
      jobs = @patience.attempt { @source.jobs }
      return flush && nil unless jobs

      @ready.concat(jobs.each { |job| job.leased_to(self) })
    end

    def send_settlements
      until @settlements.empty?
        batch = Named.batch(@settlements)
        @patience.attempt { @source.settle(batch) }
        @settlements.shift(batch.size)
      end
      @settlements_due = nil
    end

    def settled(job, outcome)
      released = @released.delete(job)
      @stale_count += 1 if outcome == :stale && !released
      @outcomes << [job, outcome] if @flushing
    end
  end
end
