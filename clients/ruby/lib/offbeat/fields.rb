# frozen_string_literal: true

module Offbeat
  # Fills the fields of messages from values, and reads them back. A value that a field cannot hold is refused with the
  # path of the field, as the sidecar would refuse it.
  module Fields
    module_function

    # Sets each named field to the member of the value with the same name; nil leaves it unset.
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
      each_indexed(values, path) { |value, place| message[name] << Fields.message(value, type, place) }
    end

    # Yields the elements of a list, and the path of each. A Struct is Enumerable, but not a list.
    def each_indexed(values, path)
      unless values.is_a?(Enumerable) && !values.is_a?(Struct)
        raise Offbeat.refused(path, values, "must be an Array or another Enumerable")
      end

      values.each_with_index { |value, index| yield value, "#{path}[#{index}]" }
    end

    # The message of a schedule, which may be a {Schedule}, a {ScheduleReference} or the text of one.
    def schedule(value, path = "schedule")
      schedule = value.is_a?(String) ? ScheduleReference.parse(value) : value
      return schedule.to_message(path) if schedule.is_a?(Schedule) || schedule.is_a?(ScheduleReference)

      raise Offbeat.refused(path, value, "must be an Offbeat::Schedule, or the name and version of one: an " \
                                         "Offbeat::ScheduleReference, or text such as \"bank-sync/3\"")
    end

    # The message of a value, which must be of the type.
    def message(value, type, path)
      raise Offbeat.refused(path, value, "must be an #{type}") unless value.is_a?(type)

      value.to_message(path)
    end

    # The message of a pair, from an Array of its two values.
    def pair(type, pair, path, names, example)
      unless pair.is_a?(Array) && pair.size == 2
        raise Offbeat.refused(path, pair, "must be a pair of kinds, such as #{example}")
      end

      names.zip(pair).each_with_object(type.new) do |(name, value), message|
        Offbeat.set_field(message, name, value, "#{path}.#{name}")
      end
    end

    # The IANA name of a time zone, which may be one of TZInfo or ActiveSupport.
    def time_zone(zone)
      zone = zone.tzinfo if zone.respond_to?(:tzinfo)
      zone.respond_to?(:identifier) ? zone.identifier : zone
    end

    # Adds the names of time zones.
    def add_time_zones(message, zones)
      add(message, "time_zones", zones.is_a?(Enumerable) ? zones.map { |zone| time_zone(zone) } : zones)
    end

    # A part of a cycle, from a Range of seconds.
    def window(range, path)
      start, finish = Times.half_open(path, range)
      window = V1::CycleWindow.new
      window.start_offset = Times.to_duration("#{path}.start_offset", start) unless start.nil?
      window.end_offset = Times.to_duration("#{path}.end_offset", finish) unless finish.nil?
      window
    end

    # The name; nil if it is empty.
    def name_or_nil(text)
      text unless text.empty?
    end

    # The value of an enum as a Symbol in lower case, without its prefix.
    def symbol(value, prefix)
      value.to_s.delete_prefix(prefix).downcase.to_sym
    end
  end
end
