# frozen_string_literal: true

module Offbeat
  # The fields of messages, filled from values and read back. What they cannot hold is refused by its path,
  # as the sidecar would.
  module Fields
    module_function

    # Sets fields to what a value has under their names; nil leaves them unset.
    def set_all(message, value, path, names)
      names.each { |name| Offbeat.set_field(message, name, value[name], "#{path}.#{name}") }
    end

    # The same for spans in seconds.
    def set_spans(message, value, path, names)
      names.each do |name|
        span = value[name]
        message[name] = Times.to_duration("#{path}.#{name}", span) unless span.nil?
      end
    end

    # Adds values to a repeated field.
    def add(message, name, values, path = name)
      each_indexed(values, path) do |value, place|
        message[name] << value
      rescue RangeError, TypeError, Google::Protobuf::TypeError, EncodingError => e
        raise Offbeat.refused(place, value, "must be a value that the field can hold (#{e.message})",
                              reason: "ERROR_REASON_OUT_OF_RANGE")
      end
    end

    # Adds the messages of values to a repeated field.
    def add_messages(message, name, values, type, path = name)
      each_indexed(values, path) do |value, place|
        raise Offbeat.refused(place, value, "must be an #{type}") unless value.is_a?(type)

        message[name] << value.to_message(place)
      end
    end

    # Yields the elements of a list, and the path of each. A Struct is Enumerable, but no list.
    def each_indexed(values, path)
      unless values.is_a?(Enumerable) && !values.is_a?(Struct)
        raise Offbeat.refused(path, values, "must be an Array or another Enumerable")
      end

      values.each_with_index { |value, index| yield value, "#{path}[#{index}]" }
    end

    # A name; the empty one stands for none.
    def name_or_nil(text)
      text unless text.empty?
    end

    # The name of an enum's value, as Ruby writes it.
    def symbol(value, prefix)
      value.to_s.delete_prefix(prefix).downcase.to_sym
    end
  end
end
