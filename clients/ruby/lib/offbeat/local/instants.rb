# frozen_string_literal: true

require_relative "refusal"

module Offbeat
  module Local
    # Converts instants and spans of messages to whole nanoseconds, and to text as the sidecar writes it.
    module Instants
      SECOND = 1_000_000_000
      MILLI = 1_000_000
      # The years 1 to 9999, which is what RFC 3339 can write.
      MIN = -62_135_596_800 * SECOND
      MAX = (253_402_300_800 * SECOND) - 1

      module_function

      # A span in nanoseconds; nil where there is none.
      def span(field, message)
        return unless message

        seconds, nanos = message.seconds, message.nanos
        unless nanos.abs < SECOND && (seconds <= 0 || nanos >= 0) && (seconds >= 0 || nanos <= 0)
          raise Refusal.new(:MALFORMED, "#{field}.nanos", nanos,
                            "must be -999999999 to 999999999 ns, with the sign of the seconds")
        end
        (seconds * SECOND) + nanos
      end

      # An instant in nanoseconds since the Unix epoch; nil where there is none.
      def moment(field, message)
        return unless message

        seconds, nanos = message.seconds, message.nanos
        unless nanos.between?(0, SECOND - 1)
          raise Refusal.new(:MALFORMED, "#{field}.nanos", nanos, "must be 0 to 999999999 ns")
        end
        moment = (seconds * SECOND) + nanos
        return moment if in_time?(moment)

        raise Refusal.new(:OUT_OF_RANGE, field, "#{seconds}s since the Unix epoch", "must be #{text(MIN)} to #{text(MAX)}")
      end

      def in_time?(nanos)
        nanos.between?(MIN, MAX)
      end

      def millis_in_time?(millis)
        in_time?(millis * MILLI)
      end

      # The instant in milliseconds, or the nearer end of the years 1 to 9999 if it is outside of them.
      def within_time(millis)
        millis.clamp(MIN / MILLI, ceil_millis(MAX))
      end

      # Nanoseconds as milliseconds, rounded up. (Ruby rounds quotients down.)
      def ceil_millis(nanos)
        -(-nanos / MILLI)
      end

      def seconds_text(nanos)
        sign = nanos.negative? ? "-" : ""
        "#{sign}#{nanos.abs / SECOND}#{fraction(nanos.abs % SECOND)}s"
      end

      def millis_text(millis)
        seconds_text(millis * MILLI)
      end

      # An instant in RFC 3339.
      def text(nanos)
        "#{Time.at(nanos / SECOND, in: "UTC").strftime("%Y-%m-%dT%H:%M:%S")}#{fraction(nanos % SECOND)}Z"
      end

      def text_of_millis(millis)
        text(millis * MILLI)
      end

      def duration(millis)
        Google::Protobuf::Duration.new(seconds: millis / 1_000, nanos: millis % 1_000 * MILLI)
      end

      # A span in nanoseconds as its message; nil if there is none.
      def duration_of_nanos(nanos)
        nanos && Google::Protobuf::Duration.new(seconds: nanos / SECOND, nanos: nanos % SECOND)
      end

      # An instant as its message; nil outside of the years 1 to 9999.
      def timestamp(millis)
        return unless millis_in_time?(millis)

        Google::Protobuf::Timestamp.new(seconds: millis / 1_000, nanos: millis % 1_000 * MILLI)
      end

      # The fraction of a second with 0, 3, 6 or 9 digits.
      def fraction(nanos)
        return "" if nanos.zero?
        return format(".%03d", nanos / MILLI) if (nanos % MILLI).zero?

        (nanos % 1_000).zero? ? format(".%06d", nanos / 1_000) : format(".%09d", nanos)
      end
    end
  end
end
