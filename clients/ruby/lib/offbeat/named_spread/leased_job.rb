# frozen_string_literal: true

module Offbeat
  # A job that belongs to one consumer until its lease ends.
  #
  # If it came from a {Consumer}, settle it by one of {#ack}, {#nack}, {#release} and {#dead_letter}. Settlements are
  # sent a little later, many together.
  class LeasedJob
    LONGEST_DELAY = 86_400 # seconds
    private_constant :LONGEST_DELAY

    # The group, as its producer calls it, and the index of the job within it, from 0.
    attr_reader :group_id, :job_index
    # Its position in the order of first attempts, how many times it was leased, and the epoch of the spread: together
    # a fencing token.
    attr_reader :sequence, :attempt, :epoch
    # The job's bytes.
    attr_reader :payload
    # How long a lease lasts, in seconds.
    attr_reader :lease_duration
    # When the lease ends, by the monotonic clock of this process.
    attr_reader :lease_deadline
    # When the lease ends, by the clock of the sidecar, for people and logs. {#expired?} does not depend on clocks.
    attr_reader :lease_end_time

    # @param leased the message that the job came with
    def initialize(message, leased, lease_deadline)
      @group_id, @job_index, @payload = message.group_id, message.job_index, message.payload
      @sequence, @attempt, @redelivered = message.sequence, message.attempt, message.redelivered
      @epoch, @lease_duration = leased.epoch, Times.from_duration(leased.lease_duration)
      @lease_deadline, @lease_end_time = lease_deadline, Times.from_timestamp(leased.lease_end_time)
      @consumer = nil
    end

    # The lease, for a process that settles the job and did not pull it.
    def token
      LeaseToken.new(epoch: epoch, sequence: sequence, attempt: attempt)
    end

    # Whether a consumer may have had it before.
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
    # delay it is the next job that is leased: a consumer that cannot handle it sets one.
    def release(delay: 0)
      consumer.settle(self, :release, delay: checked(delay))
    end

    # The job can never succeed: it becomes a dead letter.
    def dead_letter
      consumer.settle(self, :dead_letter)
    end

    # Work continues: asks at once for a full lease from now on. True if the lease was extended, and {#lease_end_time}
    # tells its new end; false if it has ended.
    def extend_lease
      consumer.extend_lease(self)
    end

    def inspect
      "#<#{self.class} #{group_id}/#{job_index} attempt #{attempt}, #{payload.bytesize} bytes>"
    end

    # The lease was extended by a call that was sent at this time.
    def extended(sent, lease_end_time)
      @lease_deadline, @lease_end_time = sent + lease_duration, lease_end_time
    end

    # When a settlement should be sent at the latest: half of the lease is left for that.
    def settlement_due
      lease_deadline - (lease_duration / 2.0)
    end

    # Settlements go to this consumer.
    def leased_to(consumer)
      @consumer = consumer
      self
    end

    private

    def consumer
      @consumer or raise Error, "the job came from no consumer: settle it with NamedSpread#settle"
    end

    # The sidecar counts milliseconds.
    def checked(delay)
      return delay.to_r.round(3) if delay.is_a?(Numeric) && delay.real? && delay.between?(0, LONGEST_DELAY)

      raise Offbeat.refused("delay", delay, "must be 0 to #{LONGEST_DELAY} seconds")
    end
  end
end
