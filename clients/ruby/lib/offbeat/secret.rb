# frozen_string_literal: true

module Offbeat
  # For classes that hold connections or secrets: they show their class only, and cannot be written to a file or sent to
  # another process.
  module Undumpable
    def inspect
      "#<#{self.class}>"
    end

    # The method of ActiveSupport would show the instance variables.
    def as_json(*)
      inspect
    end

    # Called by YAML.
    def encode_with(_coder)
      marshal_dump
    end

    def marshal_dump
      raise TypeError, "#{self.class} is part of a client and cannot be dumped: make a client where it is needed"
    end
  end
  private_constant :Undumpable

  # Holds a value so that nothing shows it: in a closure, because code that prints or serializes objects reads their
  # instance variables.
  class Secret
    include Undumpable

    def initialize(value)
      @reveal = -> { value }
    end

    def reveal
      @reveal.call
    end

    def inspect
      "[redacted]"
    end
    alias to_s inspect
  end
  private_constant :Secret
end
