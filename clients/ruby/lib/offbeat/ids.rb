# frozen_string_literal: true

module Offbeat
  # Converts the IDs of one call to messages. All of them must be of one type.
  #
  # An ID is an Integer of up to 128 bits and a sign, a String, or a Float in [0, 1) for the placement :fraction.
  # Without an `id_type` (:uuid, :text or :integer), a String is a UUID if it is one with hyphens, in any case; any
  # other String is text.
  class IdEncoder
    TYPES = { uuid: :uuids, text: :texts, integer: :decimals }.freeze
    UUID = /\A\h{8}-\h{4}-\h{4}-\h{4}-\h{12}\z/
    INT64 = (-(2**63)...(2**63)).freeze
    # The limits for one batch: IDs, and bytes of IDs, so that the message has room for the rest.
    BATCH_IDS = 65_536
    BATCH_BYTES = 3 << 20

    def initialize(id_type)
      unless id_type.nil? || TYPES.key?(id_type)
        raise Offbeat.refused("id_type", id_type, "must be nil, #{TYPES.keys.map(&:inspect).join(", ")}")
      end

      @id_type = id_type
      @kind = nil
      @next = 0
    end

    # The message of the only ID of a call.
    def one(value)
      case kind_of("id", value)
      when :integers
        INT64.cover?(value) ? V1::Id.new(integer: value) : V1::Id.new(decimal: value.to_s)
      when :fractions then V1::Id.new(fraction: value)
      when :uuids then V1::Id.new(uuid: value)
      when :decimals then V1::Id.new(decimal: value)
      else V1::Id.new(text: value)
      end
    end

    # The next IDs of a call as a column.
    # @param zones the names of their time zones, one for each ID, or none; nil for an ID in the zone of the schedule
    def column(ids, zones = [])
      encode(checked(ids), zones)
    end

    # The next IDs of a call, checked: a value that is not an ID, or is of another type, is refused.
    def checked(ids)
      ids.each_with_index { |id, offset| check("ids[#{@next + offset}]", id) }
      @next += ids.size
      ids
    end

    # A column of IDs that were checked before.
    def encode(ids, zones = [])
      return V1::IdBatch.new if ids.empty?

      indexes = zones.compact.uniq.each_with_index.to_h
      zone_indexes = indexes.empty? ? [] : zones.map { |zone| indexes.fetch(zone, -1) }
      beside = { time_zones: indexes.keys, time_zone_indexes: zone_indexes }
      if @kind == :integers && !ids.all? { |id| INT64.cover?(id) }
        V1::IdBatch.new(decimals: ids.map(&:to_s), **beside)
      else
        V1::IdBatch.new(@kind => ids, **beside)
      end
    end

    # The canonical text of an ID, as the sidecar writes it.
    def canonical(value)
      return value.to_s unless @kind == :uuids

      digits = value.delete("-").downcase
      [digits[0, 8], digits[8, 4], digits[12, 4], digits[16, 4], digits[20, 12]].join("-")
    end

    # The key of a run: its schedule and kind, its cycle, its piece, and the ID. Empty for a fraction, which identifies
    # no row.
    def run_key(prefix, cycle_index, piece_index, id)
      id.is_a?(Float) ? "" : "#{prefix}/#{cycle_index}/#{piece_index}/#{canonical(id)}"
    end

    # Cuts IDs into batches that fit into messages: an Enumerator that reads the IDs on demand.
    def self.batches(ids, size = BATCH_IDS)
      enumerable(ids)
      Enumerator.new do |batches|
        ids.each_slice(size) do |slice|
          weight = 0
          slice.slice_before do |id|
            bytes = id.is_a?(String) ? id.bytesize + 10 : 46 # with the index of a time zone
            full = weight + bytes > BATCH_BYTES
            weight = full ? bytes : weight + bytes
            full
          end.each { |batch| batches << batch }
        end
      end
    end

    # The IDs, which must be an Enumerable.
    def self.enumerable(ids)
      return ids if ids.respond_to?(:each_slice)

      raise Offbeat.refused("ids", ids, "must be an Enumerable of IDs: [id], or assign_slot")
    end

    private

    def check(field, value)
      kind = kind_of(field, value)
      @kind ||= kind
      return if kind == @kind

      raise Offbeat.refused(field, value, "must be of one type with the IDs before it (#{@kind}); " \
                                          "id_type says what strings stand for")
    end

    def kind_of(field, value)
      case value
      when String then string_kind(field, value)
      when Integer then unless_typed(field, value, :integers)
      when Float then unless_typed(field, value, :fractions)
      else raise Offbeat.refused(field, value, "must be an Integer, String or Float")
      end
    end

    def string_kind(field, value)
      utf8 = value.encoding == Encoding::UTF_8 || value.ascii_only?
      raise Offbeat.refused(field, value, "must be text in UTF-8") unless utf8 && value.valid_encoding?
      return TYPES.fetch(@id_type) if @id_type

      UUID.match?(value) ? :uuids : :texts
    end

    def unless_typed(field, value, kind)
      return kind if @id_type.nil?

      raise Offbeat.refused(field, value, "must be a String: id_type says what strings stand for")
    end
  end
end
