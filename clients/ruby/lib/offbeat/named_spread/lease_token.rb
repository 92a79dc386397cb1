# frozen_string_literal: true

require_relative "../value"

module Offbeat
  # The lease of a job, for a process that did not pull the job: {NamedSpread#settle} takes it. As text it goes into a
  # message, in a form that all clients of Offbeat read.
  #
  # Of two leases of a job, the later one has the larger token: compare epoch, sequence and attempt, in this order.
  LeaseToken = Value.define(:epoch, :sequence, :attempt) do
    # Reads a token from its text. Any other text raises {InvalidArgument}.
    def self.parse(text)
      found = text.is_a?(String) && /\A([0-9]{1,20})\.([0-9]{1,20})\.([0-9]{1,10})\z/.match(text.b)
      epoch, sequence, attempt = found.captures.map(&:to_i) if found
      unless found && [epoch, sequence].max.bit_length < 64 && attempt.bit_length < 32
        raise Offbeat.refused("token", text, "must be EPOCH.SEQUENCE.ATTEMPT, as to_s gives it")
      end

      new(epoch: epoch, sequence: sequence, attempt: attempt)
    end

    def to_s
      "#{epoch}.#{sequence}.#{attempt}"
    end
  end
end
