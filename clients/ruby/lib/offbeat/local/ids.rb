# frozen_string_literal: true

require "digest/md5"
require_relative "limits"

module Offbeat
  module Local
    # A checked ID of a message: its type, its canonical text, and the number that the placements TWISTER and FRACTION
    # use.
    class Id
      DECIMAL = /\A(?:0|-?[1-9][0-9]*)\z/
      UUID = /\A(?:\h{32}|\h{8}-\h{4}-\h{4}-\h{4}-\h{12})\z/
      private_constant :DECIMAL, :UUID

      attr_reader :type, :canonical, :number

      def initialize(type, canonical, number = nil)
        @type, @canonical, @number = type, canonical, number
      end

      # The ID from a field of the message Id, or from a value of a column.
      def self.of(field, value)
        case field
        when :uuid then uuid(value)
        when :uuid_bytes then uuid_bytes(value)
        when :integer then new(:integer, value.to_s, value)
        when :decimal then decimal(value)
        when :text then text(value)
        when :fraction then fraction(value)
        end
      end

      def self.uuid(text)
        return of_digits(text.delete("-").downcase) if UUID.match?(text)

        raise Refusal.new(:MALFORMED, "", Refusal.quoted(text),
                          "must be a UUID: 32 hexadecimal digits, or 8-4-4-4-12 of them with hyphens")
      end

      def self.uuid_bytes(bytes)
        return of_digits(bytes.unpack1("H*")) if bytes.bytesize == 16

        raise Refusal.new(:MALFORMED, "", "a UUID of #{bytes.bytesize} bytes", "must be 16 bytes")
      end

      def self.of_digits(digits)
        canonical = "#{digits[0, 8]}-#{digits[8, 4]}-#{digits[12, 4]}-#{digits[16, 4]}-#{digits[20, 12]}"
        new(:UUID, canonical, digits.hex)
      end
      private_class_method :of_digits

      def self.decimal(text)
        unless DECIMAL.match?(text)
          raise Refusal.new(:MALFORMED, "", Refusal.quoted(text),
                            "must be an integer in decimal, without plus sign or leading zeros")
        end
        # Longer texts are out of range, and slow to convert.
        number = text.to_i if text.size <= 40
        return new(:integer, text, number) if number && number.abs < 2**128

        raise Refusal.new(:OUT_OF_RANGE, "", text, "must be -(2^128 - 1) to 2^128 - 1")
      end

      def self.text(text)
        TEXT_ID.check("", text.bytesize, "a text of #{text.bytesize} bytes")
        new(:text, text)
      end

      def self.fraction(value)
        unless value >= 0 && value < 1 # not-a-number is neither
          raise Refusal.new(:OUT_OF_RANGE, "", shown(value), "must be a fraction of the cycle in [0, 1)")
        end
        value = 0.0 if value.zero? # -0.0 is 0.0
        new(:fraction, [value].pack("G").unpack1("H*"), value)
      end

      # A double as the sidecar writes it.
      def self.shown(value)
        return "inf" if value.infinite? == 1
        return "-inf" if value.infinite?

        value.to_s.sub(/\.0e/, "e").sub(/e([+-])0*/) { Regexp.last_match(1) == "-" ? "e-" : "e" }
      end

      # The first and the last 8 bytes of MD5(salt ‖ canonical text), as numbers: the first one places the ID, the last
      # one smears its late runs. MD5 because every database has it; it protects nothing.
      def hashes(salt)
        Digest::MD5.digest(salt + canonical.b).unpack("Q>Q>")
      end

      # The ID as refusals show it.
      def to_s
        shown = { text: -> { Refusal.quoted(canonical) }, fraction: -> { Id.shown(number) } }.fetch(type) { -> { canonical } }
        "the #{type} #{shown.call}"
      end

      # Whether the ID identifies a row. A fraction does not: two rows may hold the same one.
      def identity?
        type != :fraction
      end
    end

    # The IDs of a batch, of one type.
    class IdColumn
      FIELDS = { "packed_uuids" => :uuid_bytes, "uuids" => :uuid, "integers" => :integer, "decimals" => :decimal,
                 "texts" => :text, "fractions" => :fraction }.freeze
      UUID_BYTES = 16
      private_constant :FIELDS, :UUID_BYTES

      attr_reader :size

      def initialize(message)
        message ||= V1::IdBatch.new
        filled = FIELDS.keys.reject { |name| message[name].empty? }
        if filled.size > 1
          raise Refusal.new(:CONTRADICTORY, "ids", filled.join(" and "), "must be IDs of one type: send one batch for each")
        end
        @name = filled.first or raise Refusal.missing("ids", "must be #{BATCH_IDS} in one of its fields")
        @values = @name == "packed_uuids" ? packed(message[@name]) : message[@name]
        @size = @values.size
        BATCH_IDS.allows?(size) or
          raise Refusal.new(:OUT_OF_RANGE, "ids.#{@name}", "#{size} IDs",
                            "must be #{BATCH_IDS}: split the batch, or use StreamSlotAssignments")
        @errors = []
      end

      # Yields each {Id} with its {Place} in a {KindSchedule}, and its row. For a refused ID, both are nil, and
      # {#errors} has an entry.
      def place_each(asked)
        field = FIELDS.fetch(@name)
        @values.each_with_index do |value, row|
          id = Id.of(field, value)
          place = asked.place(id)
        rescue Refusal => e
          @errors << error(row, e)
          yield nil, nil, row
        else
          yield id, place, row
        end
      end

      # The {V1::IdError}s so far.
      attr_reader :errors

      private

      def packed(bytes)
        unless (bytes.bytesize % UUID_BYTES).zero?
          raise Refusal.new(:MALFORMED, "ids.#{@name}", "#{bytes.bytesize} bytes",
                            "must be a multiple of 16 bytes, UUIDs end to end")
        end
        bytes.unpack("a16" * (bytes.bytesize / UUID_BYTES))
      end

      def error(row, refusal)
        error = V1::IdError.new(id_index: row, reason: :"ERROR_REASON_#{refusal.reason}")
        return error if @errors.size >= DETAILED_ERRORS

        error.field = "ids.#{@name}[#{row}]"
        error.value, error.allowed = refusal.value, refusal.allowed
        error
      end
    end
  end
end
