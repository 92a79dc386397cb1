# frozen_string_literal: true

module Offbeat
  # A job that locks an ID, with the schedule that it has today.
  #
  #   Offbeat::ComparedJob.new(schedule: "bank-sync/3", kind: "import", run_time: 600)
  ComparedJob = Value.define(:schedule, :kind, :run_time) do
    # @param kind its kind, where the schedule declares kinds
    # @param run_time how long a run takes at most, in seconds. Default: the run time of the kind in the schedule;
    #   without one, runs are only kept from starting at the same time as others
    def initialize(schedule:, kind: nil, run_time: nil)
      super
    end

    # The job as its message; the path names it in refusals.
    def to_message(path)
      message = V1::ComparedJob.new(schedule: Fields.schedule(schedule, "#{path}.schedule"))
      Fields.set_all(message, self, path, %w[kind])
      Fields.set_spans(message, self, path, %w[run_time])
      message
    end
  end

  # Whether jobs are kept apart. `separation` is the worst of all {ComparedPair}s.
  #
  # :apart means that, for every ID, a run of one job has ended before the next run of the other one starts, if each
  # starts on time and takes no longer than its run time. :meet means that there are IDs on which they meet. :unknown
  # means that it is not known: treat it as :meet.
  Comparison = Value.define(:separation, :pairs) do
    def self.of(message)
      new(separation: Fields.symbol(message.separation, "SEPARATION_"),
          pairs: message.pairs.map { |pair| ComparedPair.of(pair) })
    end

    # Whether all are kept apart.
    def apart?
      separation == :apart
    end
  end

  # Whether two jobs, named by their indexes, are kept apart. `message` says why, in a sentence. `first_to_second` is
  # the shortest time in seconds from a run of the first job to the next run of the second one, for one ID;
  # `second_to_first` is the same in the other direction. Both are nil where that is not known.
  ComparedPair = Value.define(:first_job_index, :second_job_index, :separation, :message, :first_to_second,
                              :second_to_first) do
    def self.of(message)
      new(first_job_index: message.first_job_index, second_job_index: message.second_job_index,
          separation: Fields.symbol(message.separation, "SEPARATION_"), message: message.message,
          first_to_second: Times.from_optional(message.first_to_second),
          second_to_first: Times.from_optional(message.second_to_first))
    end
  end
end
