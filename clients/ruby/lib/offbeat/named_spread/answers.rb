# frozen_string_literal: true

require_relative "../value"

module Offbeat
  # How a named spread works: the {SpreadOrder} of first attempts, how long a lease lasts in seconds, and the
  # {SpreadLimits}.
  NamedSpreadSpec = Value.define(:order, :lease_duration, :limits) do
    def self.of(message)
      new(order: SpreadOrder.of(message.order), lease_duration: Times.from_duration(message.lease_duration),
          limits: SpreadLimits.of(message.limits))
    end
  end

  # Limits of a named spread.
  SpreadLimits = Value.define(:max_attempt_count, :max_consumer_lease_count, :max_group_count, :max_job_count,
                              :max_byte_count) do
    def self.of(message)
      new(**members.to_h { |name| [name, message[name.to_s]] })
    end

    # The limits that are not nil, as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      V1::SpreadLimits.new.tap { |message| Fields.set_all(message, self, path, members.map(&:to_s)) }
    end
  end

  # A named spread. `state` is :open, :draining or :closed. `epoch` is another number after each restart of the sidecar,
  # and each time that the name is opened again.
  SpreadDescription = Value.define(:spread_name, :spec, :state, :epoch, :counts, :certificate) do
    def self.of(message)
      new(spread_name: message.spread_name, spec: NamedSpreadSpec.of(message.spec),
          state: Fields.symbol(message.state, "SPREAD_STATE_"), epoch: message.epoch,
          counts: SpreadCounts.of(message.counts), certificate: SpreadCertificate.of(message.certificate))
    end
  end

  # Counts of what a named spread holds.
  SpreadCounts = Value.define(:group_count, :partial_group_count, :quarantined_group_count, :ready_job_count,
                              :leased_job_count, :returned_job_count, :settled_job_count, :dead_letter_count,
                              :byte_count, :consumer_count) do
    def self.of(message)
      new(**members.to_h { |name| [name, message[name.to_s]] })
    end
  end

  # The state of a group: :unknown, :partial, :received, :stored or :settled. `settled_ranges` are the indexes of its
  # settled jobs, as half-open Ranges.
  GroupStatus = Value.define(:group_id, :state, :job_count, :settled_job_count, :dead_letter_count, :settled_ranges) do
    def self.of(message)
      new(group_id: message.group_id, state: Fields.symbol(message.state, "GROUP_STATE_"),
          job_count: message.job_count, settled_job_count: message.settled_job_count,
          dead_letter_count: message.dead_letter_count,
          settled_ranges: message.settled_ranges.map { |range| range.start_index...range.end_index })
    end
  end

  # A job that is not tried again. `cause` is :attempts_exhausted or :consumer. `epoch` and `number` identify it: in
  # another epoch of the spread, the same number is another dead letter.
  DeadLetter = Value.define(:epoch, :number, :group_id, :job_index, :payload, :attempt_count, :cause) do
    # @param epoch the epoch of the page
    def self.of(message, epoch)
      new(epoch: epoch, number: message.number, group_id: message.group_id, job_index: message.job_index,
          payload: message.payload, attempt_count: message.attempt_count,
          cause: Fields.symbol(message.cause, "DEAD_LETTER_CAUSE_"))
    end
  end

  # The jobs of one pull. `empty_reason` says why there are none: :no_ready_job, :consumer_at_limit, :leases_at_limit
  # or :spread_closed; nil if there are some.
  PulledJobs = Value.define(:jobs, :empty_reason) do
    # Whether the spread is closed and holds no job: do not pull again.
    def ended?
      empty_reason == :spread_closed
    end
  end

  # The result of a settlement: :acked, :returned, :extended, :dead_lettered or :stale. With :extended,
  # `lease_end_time` is when the lease ends, by the clock of the sidecar; else nil.
  SettleResult = Value.define(:outcome, :lease_end_time) do
    def self.of(message)
      new(outcome: Fields.symbol(message.outcome, "SETTLE_OUTCOME_"),
          lease_end_time: Times.from_optional_timestamp(message.lease_end_time))
    end
  end

  # Shared behaviour of named spreads.
  module Named
    SERVICE = "v1.NamedSpreadService"
    # The most groups, settlements or dead-letter numbers that a call takes.
    CALL = 4_096

    module_function

    # The first settlements, as many as one call takes: those of jobs of one epoch.
    def batch(settlements)
      epoch = settlements[0][0].epoch
      settlements.first(CALL).take_while { |job, *| job.epoch == epoch }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # The value, which must be a number of seconds, 0 or more.
    def span(field, value)
      return value.to_f if value.is_a?(Numeric) && value.real? && value >= 0

      raise Offbeat.refused(field, value, "must be a number of seconds, 0 or more")
    end
  end
  private_constant :Named
end
