# frozen_string_literal: true

module Offbeat
  # The jobs of a named spread, as they are lent to one consumer; they end when the spread is
  # closed and all is settled. Belongs to one thread.
  #
  # Verdicts are sent before more jobs are asked for, before they get old, and by {#flush} and
  # {#close}. When the sidecar is away, tries again for as long as its patience lasts.
  class Consumer
    include Enumerable

    OLDEST_VERDICT = 1.0 # seconds
    FIRST_PAUSE = 0.05 # seconds
    private_constant :OLDEST_VERDICT, :FIRST_PAUSE

    # How many verdicts came too late: those jobs may be done twice.
    attr_reader :stale_count

    # @yield [settled] makes the source of jobs; it tells `settled` what verdicts came to
    def initialize(calls, patience)
      @calls, @patience = calls, Named::Patience.new(patience, FIRST_PAUSE)
      @source = yield method(:settled)
      @ready, @verdicts, @verdicts_due, @settlements = [], [], nil, []
      @stale_count, @flushing, @closed = 0, false, false
      @given_back, @dropped = {}.compare_by_identity, 0
    end

    def each
      return enum_for(:each) unless block_given?

      while (job = next_job)
        yield job
      end
      self
    end

    # Sends the verdicts that have not been sent: an Array of jobs, each with what became of
    # it: :settled, :returned, :dead_lettered or :stale.
    def flush
      @settlements, @flushing = [], true
      send_verdicts
      @patience.attempt { @source.await_settlements }
      @settlements
    ensure
      @flushing = false
    end

    # Sends the verdicts, and gives back jobs that were never handed out. One that was, and
    # got no verdict, stays lent until its lease ends.
    def close
      return if @closed

      @closed = true
      return @source.close if @patience.given_up?

      send_verdicts
      @ready.concat(@source.close).each { |job| give_back(job) }
      @ready.clear
      flush
    end

    # Queues a verdict; jobs do this.
    def settle(job, verdict, delay = nil)
      raise Error, "the consumer is closed: the verdict would not be sent" if @closed

      @verdicts << [job, verdict, delay]
      @verdicts_due = [@verdicts_due, Named.now + OLDEST_VERDICT, job.verdict_due].compact.min
      nil
    end

    # Asks for another lease at once; jobs do this.
    def extend_lease(job)
      return false if job.expired?

      @patience.attempt(job.lease_end) { @calls.settle([[job, :extend]], attempts: 1) } == [:extended]
    rescue Unavailable, DeadlineExceeded
      raise unless job.expired?

      false
    end

    private

    # The next job whose lease lasts; nil if there will never be one.
    def next_job
      raise Error, "the consumer is closed" if @closed

      loop do
        send_verdicts if @verdicts_due && Named.now >= @verdicts_due
        job = @ready.shift
        next give_back(job) if job&.expired?

        drop_given_back
        if job.nil?
          more_jobs or return
          next
        end
        @source.taken
        return job
      end
    end

    # A job that was not handed out: its attempt does not count, even if its lease has ended
    # while it waited here.
    def give_back(job)
      @given_back[job] = true
      @verdicts << [job, :release, nil]
      @dropped += 1
    end

    # First what was given back, then room for others: or they could be lent to us again before.
    def drop_given_back
      return if @dropped.zero?

      send_verdicts
      @dropped.times { @source.taken }
      @dropped = 0
    end

    def more_jobs
      send_verdicts
      jobs = @patience.attempt { @source.jobs }
      return flush && nil unless jobs

      @ready.concat(jobs.each { |job| job.lent_to(self) })
    end

    def send_verdicts
      until @verdicts.empty?
        batch = Named.batch(@verdicts)
        @patience.attempt { @source.settle(batch) }
        @verdicts.shift(batch.size)
      end
      @verdicts_due = nil
    end

    def settled(job, settlement)
      given_back = @given_back.delete(job)
      @stale_count += 1 if settlement == :stale && !given_back
      @settlements << [job, settlement] if @flushing
    end
  end
end
