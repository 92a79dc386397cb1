# frozen_string_literal: true

module Offbeat
  # Converts instants and spans between Ruby and protobuf, exactly.
  module Times
    NANOS = 1_000_000_000
    MICROS = 1_000_000

    module_function

    # A span in seconds (an Integer, Rational, Float or ActiveSupport duration) as a message, rounded to the nanosecond.
    def to_duration(field, span)
      nanos = (exactly(field, span) * NANOS).round
      seconds, rest = nanos.abs.divmod(NANOS)
      sign = nanos.negative? ? -1 : 1
      Google::Protobuf::Duration.new(seconds: sign * seconds, nanos: sign * rest)
    rescue RangeError
      raise Offbeat.refused(field, span, "must be a number of seconds that 64 bits hold")
    end

    # A span in seconds as microseconds, to the nearest.
    def to_micros(field, span)
      micros = (exactly(field, span) * MICROS).round
      return micros if micros.bit_length < 64

      raise Offbeat.refused(field, span, "must be a number of seconds whose microseconds 64 bits hold")
    end

    # The seconds of a message: an Integer if they are whole, else a Rational.
    def from_duration(message)
      whole(message.seconds + Rational(message.nanos, NANOS))
    end

    # Microseconds as seconds: an Integer, or a Rational.
    def from_micros(micros)
      whole(Rational(micros, MICROS))
    end

    # A span, or nil where there is none.
    def from_optional(message)
      message && from_duration(message)
    end

    # A Time, from a Time or an object that converts to one (of ActiveSupport, or a DateTime).
    def to_time(field, instant)
      time = instant.is_a?(Time) ? instant : time_of(instant)
      time or raise Offbeat.refused(field, instant, "must be a Time, such as Time.now")
    end

    # An instant as a message.
    def to_timestamp(field, instant)
      time = to_time(field, instant)
      Google::Protobuf::Timestamp.new(seconds: time.to_i, nanos: time.nsec)
    end

    def from_timestamp(message)
      Time.at(message.seconds, message.nanos, :nsec, in: "UTC")
    end

    # The same, or nil where there is none.
    def from_optional_timestamp(message)
      message && from_timestamp(message)
    end

    # An instant in milliseconds since the Unix epoch, rounded up. Runs start on whole milliseconds, so that those
    # before the instant stay before it.
    def to_unix_millis(field, instant)
      message = to_timestamp(field, instant)
      (message.seconds * 1_000) + ((message.nanos + 999_999) / 1_000_000)
    end

    def from_unix_millis(millis)
      Time.at(millis / 1_000, millis % 1_000, :millisecond, in: "UTC")
    end

    # Start and end of a half-open Range. Other Ranges are refused, because their end would not be included.
    def half_open(field, range)
      return [range.begin, range.end] if range.is_a?(Range) && range.exclude_end?

      raise Offbeat.refused(field, range, "must be a Range without its end, such as 3600...7200")
    end

    def whole(rational)
      rational.denominator == 1 ? rational.numerator : rational
    end

    # A span as a Rational.
    def exactly(field, span)
      return span.to_r if span.is_a?(Numeric) && span.respond_to?(:to_r) && (!span.is_a?(Float) || span.finite?)

      raise Offbeat.refused(field, span, "must be a number of seconds")
    end

    # Strings are not converted, because ActiveSupport reads them in the local zone; nor are Dates, which have no time.
    def time_of(instant)
      return if instant.is_a?(String) || !instant.respond_to?(:to_time) || !instant.respond_to?(:hour)

      instant.to_time
    end
  end
end
