# frozen_string_literal: true

module Offbeat
  module Local
    # Why a request is refused, in the words of the sidecar. The messages that contain the field add their names to its
    # path: see {Refusal.under}.
    class Refusal < StandardError
      SHOWN = 80 # characters of a value; longer values are cut
      # The characters that Rust's `{:?}` escapes: the sidecar quotes text with it.
      UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Mn}\p{Me}]|(?! )\p{Zs}/
      NAMED = { "\0" => '\0', "\t" => '\t', "\r" => '\r', "\n" => '\n', '"' => '\"', "\\" => '\\\\' }.freeze
      private_constant :SHOWN, :UNPRINTABLE, :NAMED

      attr_accessor :field
      attr_reader :reason, :value, :allowed

      # @param reason the end of its name in error_reason.proto, such as :OUT_OF_RANGE
      def initialize(reason, field, value, allowed)
        super(allowed)
        @reason, @field, @value, @allowed = reason, field, Refusal.shorten(value.to_s), Refusal.printable(allowed)
      end

      # Yields. If the block refuses a field, adds the name of `parent` to its path.
      def self.under(parent)
        yield
      rescue Refusal => e
        e.field = e.field.empty? || e.field.start_with?("[") ? "#{parent}#{e.field}" : "#{parent}.#{e.field}"
        raise
      end

      def self.missing(field, allowed)
        new(:FIELD_MISSING, field, "nothing", allowed)
      end

      # The value of a field. Refuses a field that is not set.
      def self.required(field, value, allowed)
        value.nil? ? raise(missing(field, allowed)) : value
      end

      # The value of an enum field; `default` if it is not set. Refuses values that this client does not know.
      def self.known(field, value, allowed, default: nil)
        raise new(:OUT_OF_RANGE, field, value, "must be #{allowed}") if value.is_a?(Integer)
        return value unless value.end_with?("_UNSPECIFIED")

        default or raise missing(field, "must be #{allowed}")
      end

      # Text in quotes, as the sidecar shows it.
      def self.quoted(text)
        "\"#{text.gsub(/["\\]|#{UNPRINTABLE}/o) { |one| NAMED.fetch(one) { format('\u{%x}', one.ord) } }}\""
      end

      def self.shorten(value)
        shown = printable(value[0, SHOWN])
        value.size > SHOWN ? "#{shown}…" : shown
      end

      def self.printable(text)
        return text unless text.match?(/[[:cntrl:]]/)

        text.gsub(/[[:cntrl:]]/) { |one| one == "\0" ? '\u{0}' : NAMED.fetch(one) { format('\u{%x}', one.ord) } }
      end

      # The error that the same refusal of the sidecar would become.
      def to_error
        missing = reason == :FIELD_MISSING
        message = missing ? "#{field}: is missing: #{allowed}" : "#{field}: #{value} is refused: #{allowed}"
        type = reason == :UNKNOWN_SCHEDULE ? NotFound : InvalidArgument
        type.new(message, reason: "ERROR_REASON_#{reason}", field: Refusal.printable(field), value: value, allowed: allowed)
      end
    end
  end
end
