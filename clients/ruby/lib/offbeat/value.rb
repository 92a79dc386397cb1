# frozen_string_literal: true

module Offbeat
  # Immutable Structs with keyword arguments: equal if their members are equal, and safe to share between threads.
  module Value
    # Freezes new values. It is prepended to the singleton class of each Struct.
    module Frozen
      # Arrays are copied: the caller's own must not be frozen.
      def new(*positional, **members)
        super(*positional, **members.transform_values { |value| value.is_a?(Array) ? value.dup.freeze : value }).freeze
      end
    end

    def self.define(*members, &methods)
      Struct.new(*members, keyword_init: true) do
        members.each { |member| remove_method(:"#{member}=") }
        singleton_class.prepend(Frozen)
        class_eval(&methods) if methods
      end
    end
  end
  private_constant :Value
end
