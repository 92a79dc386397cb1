# frozen_string_literal: true

require_relative "../value"

module Offbeat
  # Identifies the lease of a job, so that a process that did not pull the job can settle it with {NamedSpread#settle}.
  # As text, a token can be part of a message; all clients of Offbeat read the same form.
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
