# frozen_string_literal: true

module Offbeat
  # How a named spread is dealt and lent; the lease is in seconds.
  NamedSpreadSpec = Struct.new(:policy, :feeder_count, :max_open_groups, :lease, :max_attempts, :max_consumer_leases,
                               :max_groups, :max_jobs, :max_bytes, keyword_init: true) do
    def self.of(message)
      new(
        policy: Spread::POLICIES.key(message.policy), feeder_count: message.feeder_count,
        max_open_groups: message.has_max_open_groups? ? message.max_open_groups : nil,
        lease: Times.from_duration(message.lease), max_attempts: message.max_attempts,
        max_consumer_leases: message.max_consumer_leases, max_groups: message.max_groups,
        max_jobs: message.max_jobs, max_bytes: message.max_bytes
      )
    end
  end

  # A named spread, and what it holds; `state` is :open, :draining or :closed. The epoch is
  # another after each restart.
  SpreadDescription = Struct.new(:spread, :spec, :state, :epoch, :group_count, :partial_group_count, :ready_job_count,
                                 :quarantined_group_count, :leased_job_count, :returned_job_count,
                                 :settled_job_count, :dead_letter_count, :byte_count, :consumer_count,
                                 :certificate, keyword_init: true) do
    def self.of(message)
      plain = members - %i[spec state certificate]
      new(**plain.to_h { |name| [name, message[name.to_s]] }, spec: NamedSpreadSpec.of(message.spec),
          state: Fields.symbol(message.state, "SPREAD_STATE_"), certificate: SpreadCertificate.of(message.certificate))
    end
  end

  # What has become of a group; `state` is :unknown, :partial, :received, :stored or
  # :settled. The ranges are pairs of numbers of jobs: from the first, up to but not
  # including the second.
  GroupStatus = Struct.new(:group_id, :state, :job_count, :settled_count, :dead_letter_count, :settled_ranges,
                           keyword_init: true) do
    def self.of(message)
      new(group_id: message.group_id, state: Fields.symbol(message.state, "GROUP_STATE_"),
          job_count: message.job_count, settled_count: message.settled_count,
          dead_letter_count: message.dead_letter_count, settled_ranges: message.settled_ranges.each_slice(2).to_a)
    end
  end

  # A job that was given up; `cause` is :attempts or :terminated.
  DeadLetter = Struct.new(:number, :group_id, :index, :job, :attempt_count, :cause, keyword_init: true) do
    def self.of(message)
      new(number: message.number, group_id: message.group_id, index: message.index, job: message.job,
          attempt_count: message.attempt_count, cause: Fields.symbol(message.cause, "DEAD_LETTER_CAUSE_"))
    end
  end

  # What one pull gave; `ended` says that the spread is closed and has nothing left.
  PulledJobs = Struct.new(:jobs, :ended, keyword_init: true)

  # What named spreads have in common.
  module Named
    SERVICE = "NamedSpreadService"
    # How many groups, verdicts or numbers a call takes.
    CALL = 4_096

    module_function

    # The first verdicts that go by one call: those on jobs of one epoch.
    def batch(verdicts)
      epoch = verdicts[0][0].epoch
      verdicts.first(CALL).take_while { |job, *| job.epoch == epoch }
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Seconds of which there may be none.
    def span(field, value)
      return value.to_f if value.is_a?(Numeric) && value.real? && value >= 0

      raise Offbeat.refused(field, value, "must be a number of seconds, 0 or more")
    end
  end
  private_constant :Named
end
