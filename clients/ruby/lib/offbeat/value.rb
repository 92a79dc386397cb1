# frozen_string_literal: true

module Offbeat
  # Structs that never change, by keywords: equal if their members are, safe to share by threads.
  module Value
    # Makes them so; in the class of a value.
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
