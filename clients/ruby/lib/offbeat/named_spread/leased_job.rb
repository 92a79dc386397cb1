# frozen_string_literal: true

module Offbeat
  # A job that belongs to one consumer until its lease ends.
  #
  # Settle a job that came from a {Consumer} with one of {#ack}, {#nack}, {#release} and {#dead_letter}. Settlements are
  # sent a little later, several together. Settle other jobs with {NamedSpread#settle}.
  class LeasedJob
    LONGEST_DELAY = 86_400 # seconds
    private_constant :LONGEST_DELAY

    # The group, as its producer calls it, and the index of the job within it, from 0.
    attr_reader :group_id, :job_index
    # The job's position in the order of first attempts, how many times it was leased, and the epoch of the spread.
    # Compared in the order epoch, sequence, attempt, these are a fencing token.
    attr_reader :sequence, :attempt, :epoch
    # The job's bytes.
    attr_reader :payload
    # How long a lease lasts, in seconds.
    attr_reader :lease_duration
    # When the lease ends, by the monotonic clock of this process.
    attr_reader :lease_deadline
    # When the lease ends, by the clock of the sidecar, for people and logs. {#expired?} does not use this: clocks may
    # differ.
    attr_reader :lease_end_time

    # @param leased the message that contains the job
    def initialize(message, leased, lease_deadline)
      @group_id, @job_index, @payload = message.group_id, message.job_index, message.payload
      @sequence, @attempt, @redelivered = message.sequence, message.attempt, message.redelivered
      @epoch, @lease_duration = leased.epoch, Times.from_duration(leased.lease_duration)
      @lease_deadline, @lease_end_time = lease_deadline, Times.from_timestamp(leased.lease_end_time)
      @consumer = nil
    end

    # The token of the lease, for a process that settles the job and did not pull it.
    def token
      LeaseToken.new(epoch: epoch, sequence: sequence, attempt: attempt)
    end

    # Whether a consumer may have had the job before.
    def redelivered?
      @redelivered
    end

    # The rest of the lease, in seconds.
    def lease_ends_in
      [lease_deadline - Named.now, 0.0].max
    end

    # Whether the lease has ended: another consumer may have the job.
    def expired?
      lease_ends_in.zero?
    end

    # The job is done.
    def ack
      consumer.settle(self, :ack)
    end

    # The attempt failed: the job is leased again after the delay, in seconds, or becomes a dead letter if this was its
    # last attempt.
    def nack(delay: 0)
      consumer.settle(self, :nack, delay: checked(delay))
    end

    # The job was not started: it is leased again after the delay, in seconds, and the attempt does not count. Without a
    # delay, it is the next job to be leased, so a consumer that cannot handle it should set one.
    def release(delay: 0)
      consumer.settle(self, :release, delay: checked(delay))
    end

    # The job can never succeed: it becomes a dead letter.
    def dead_letter
      consumer.settle(self, :dead_letter)
    end

    # Work continues: extends the lease at once, to its full duration from now on. True if the lease was extended;
    # {#lease_end_time} is then its new end. False if the lease has ended.
    def extend_lease
      consumer.extend_lease(self)
    end

    def inspect
      "#<#{self.class} #{group_id}/#{job_index} attempt #{attempt}, #{payload.bytesize} bytes>"
    end

    # Records that a call extended the lease. `sent` is when the call was sent, by the monotonic clock.
    def extended(sent, lease_end_time)
      @lease_deadline, @lease_end_time = sent + lease_duration, lease_end_time
    end

    # The latest time at which a settlement should be sent: half of the lease is then left for the call.
    def settlement_due
      lease_deadline - (lease_duration / 2.0)
    end

    # Makes this consumer the one that settles the job.
    def leased_to(consumer)
      @consumer = consumer
      self
    end

    private

    def consumer
      @consumer or raise Error, "the job came from no consumer: settle it with NamedSpread#settle"
    end

    # The delay, rounded to milliseconds, which the sidecar counts.
    def checked(delay)
      return delay.to_r.round(3) if delay.is_a?(Numeric) && delay.real? && delay.between?(0, LONGEST_DELAY)

      raise Offbeat.refused("delay", delay, "must be 0 to #{LONGEST_DELAY} seconds")
    end
  end
end
