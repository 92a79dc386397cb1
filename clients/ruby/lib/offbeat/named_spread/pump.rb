# frozen_string_literal: true

module Offbeat
  # Hands the jobs of a {NamedSpread} over to another queue, in the order of the spread, and extends their leases.
  # Belongs to one thread, except for {#stop}.
  #
  # The block of {NamedSpread#pump} puts a job into the queue, with its {LeasedJob#token}. Any process settles the job
  # by the token, with {NamedSpread#settle}. At most `max_consumer_lease_count` jobs, a limit of the spread, are handed
  # over and not settled. Twice its `feeder_count` is a good number.
  #
  # A job that is not settled within `hold_for` seconds counts as lost: its lease ends, and the job is handed over
  # again, as its next attempt. The same happens to jobs of a pump whose process has ended, since another pump does not
  # know them.
  class Pump
    # The most jobs of a pull. If the process is killed, they wait until their leases end.
    PULLED_JOBS = 16
    # The longest time that a pull waits, in seconds: a stopped pump ends within about this time.
    LONGEST_WAIT = 1.0
    # Leases are extended after a third of their duration, but at the latest after this, in seconds. Until then, the
    # pump also holds jobs that have been settled.
    LONGEST_ROUND = 5.0
    FIRST_PAUSE = 0.5 # seconds
    LONGEST_PAUSE = 30.0 # seconds
    HeldJob = Struct.new(:token, :held_until)
    private_constant :PULLED_JOBS, :LONGEST_WAIT, :LONGEST_ROUND, :FIRST_PAUSE, :LONGEST_PAUSE, :HeldJob

    def initialize(spread, consumer_id, hold_for, hand_over)
      unless hold_for.is_a?(Numeric) && hold_for.real? && hold_for.positive?
        raise Offbeat.refused("hold_for", hold_for, "must be a positive number of seconds")
      end

      @spread, @consumer_id, @hold_for, @hand_over = spread, consumer_id, hold_for.to_f, hand_over
      @held, @round, @next_round, @stopped = [], LONGEST_ROUND, 0.0, false
    end

    # Hands over the jobs that are ready, after a wait of up to a second for the first. Returns false once the spread
    # has ended.
    #
    # If the block raises an error, releases the current job and those behind it with a delay of a second, and raises
    # the error.
    def step
      extend_leases if Named.now >= @next_round
      wait = (@next_round - Named.now).clamp(0.0, LONGEST_WAIT)
      pulled = @spread.pull(@consumer_id, PULLED_JOBS, wait: wait.floor(3)) # the sidecar counts milliseconds
      hand_over(pulled.jobs)
      !pulled.ended?
    end

    # Hands jobs over until {#stop} is called or the spread has ended. An error becomes a warning, and {#run} continues
    # after a pause of 0.5 to 30 seconds.
    def run
      pause = FIRST_PAUSE
      until @stopped
        begin
          break unless step

          pause = FIRST_PAUSE
        rescue StandardError => e
          warn("offbeat: the pump of #{@spread.name} continues in #{pause} s: #{e.message[/.*/]} (#{e.class})")
          rest(pause)
          pause = [2 * pause, LONGEST_PAUSE].min
        end
      end
    ensure
      @stopped = false
    end

    # Ends {#run} after its current step; if it is not running, the next {#run} ends at once. May be called by other
    # threads and by signal traps.
    def stop
      @stopped = true # without a Mutex, which a trap may not lock
    end

    private

    def hand_over(jobs)
      pulled_at, left = Named.now, jobs.dup
      until left.empty?
        job = left.first
        unless job.expired? # it may have expired while earlier jobs were handed over: another consumer may have it
          @hand_over.call(job)
          hold(job, pulled_at)
        end
        left.shift
      end
    ensure
      release(left) unless left.empty?
    end

    def hold(job, pulled_at)
      @held << HeldJob.new(job.token, pulled_at + @hold_for)
      @round = [job.lease_duration / 3.0, LONGEST_ROUND].min
      @next_round = [@next_round, pulled_at + @round].min
    end

    def release(jobs)
      @spread.settle(jobs.map { |job| [job, :release, 1] })
    rescue Error
      nil # the leases end by themselves; the error to raise is that of the block
    end

    # Extends the leases of all jobs that the pump holds, and forgets those that are settled or lost.
    def extend_leases
      now = Named.now
      held = @held.select { |job| job.held_until > now }
      results = @spread.settle(held.map { |job| [job.token, :extend_lease] })
      @held = held.zip(results).filter_map { |job, result| job if result.outcome == :extended }
      @next_round = now + @round
    end

    def rest(pause)
      ends = Named.now + pause
      sleep([ends - Named.now, LONGEST_WAIT].min) until @stopped || Named.now >= ends
    end
  end
end
