# frozen_string_literal: true

module Offbeat
  # A job that locks an ID, by the schedule that it has today.
  #
  #   Offbeat::ComparedJob.new(schedule: "bank-sync/3", kind: "import", run_time: 600)
  ComparedJob = Value.define(:schedule, :kind, :run_time) do
    # @param kind its kind, where the schedule declares kinds
    # @param run_time how long a run takes at most, in seconds. Default: what the schedule says of the kind, or
    #   else not known: runs are then only kept from starting together
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

  # How jobs stand to one another: `separation` is the worst of all {ComparedPair}s.
  #
  # :apart says that, for every ID, a run of one has ended before the next of the other starts, if each starts
  # on time and keeps to its run time; :meet that there are IDs on which they meet; :unknown that it is not known:
  # take that for :meet.
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

  # How two jobs stand to one another, by their indexes; `message` says why, in a sentence. `first_to_second` is the shortest
  # time in seconds from a run of the first to the next run of the second, for one ID, and `second_to_first` the
  # other way; nil where that is not known.
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
