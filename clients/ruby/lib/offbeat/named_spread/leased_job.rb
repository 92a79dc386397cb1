# frozen_string_literal: true

module Offbeat
  # A job that is lent until its lease ends, by the client's clock.
  #
  # If it came from a {Consumer}, one of {#ack}, {#nack}, {#release} and {#terminate} says how
  # it went; these are sent a little later, many together.
  class LeasedJob
    LONGEST_DELAY = 86_400 # seconds
    private_constant :LONGEST_DELAY

    # The group, as its producer calls it, and the number of the job within it, from 0.
    attr_reader :group_id, :index
    # Its place in the order of first attempts, how many times it was lent, and in which life
    # of the spread: together a fencing token.
    attr_reader :sequence, :attempt, :epoch
    # The job: bytes.
    attr_reader :job
    # When the lease ends, by the monotonic clock.
    attr_reader :lease_end

    # @param lease in seconds
    def initialize(message, epoch, lease, lease_end)
      @group_id, @index, @job = message.group_id, message.index, message.job
      @sequence, @attempt, @redelivered = message.sequence, message.attempt, message.redelivered
      @epoch, @lease, @lease_end, @consumer = epoch, lease, lease_end, nil
    end

    # Whether a consumer may have had it before.
    def redelivered?
      @redelivered
    end

    # What is left of the lease, in seconds.
    def lease_ends_in
      [@lease_end - Named.now, 0.0].max
    end

    # Whether the lease has ended: somebody else may have the job.
    def expired?
      lease_ends_in.zero?
    end

    # It is done.
    def ack
      consumer.settle(self, :ack)
    end

    # It failed: it is lent again after the delay, in seconds, or given up if this was the
    # last attempt.
    def nack(delay: 0)
      unless delay.is_a?(Numeric) && delay.real? && delay.between?(0, LONGEST_DELAY)
        raise Offbeat.refused("delay", delay, "must be 0 to #{LONGEST_DELAY} seconds")
      end

      consumer.settle(self, :nack, delay.to_r.round(3)) # the sidecar counts milliseconds
    end

    # It was not begun: it is lent again, and the attempt does not count.
    def release
      consumer.settle(self, :release)
    end

    # It can never succeed: it is given up.
    def terminate
      consumer.settle(self, :terminate)
    end

    # It is still being worked on: asks at once for a full lease from now on. False if the
    # lease has ended.
    def extend_lease
      consumer.extend_lease(self)
    end

    def inspect
      "#<#{self.class} #{group_id}/#{index} attempt #{attempt}, #{job.bytesize} bytes>"
    end

    # The lease was renewed by a verdict that was sent at this time.
    def extended(sent)
      @lease_end = sent + @lease
    end

    # By when a verdict should be on its way: half of the lease is left for that.
    def verdict_due
      @lease_end - (@lease / 2.0)
    end

    # Verdicts go to whom it was lent to.
    def lent_to(consumer)
      @consumer = consumer
      self
    end

    private

    def consumer
      @consumer or raise Error, "the job came from no consumer: settle it with NamedSpread#settle"
    end
  end
end
