# frozen_string_literal: true

require_relative "wire"

module Offbeat
  # Assignments of packed IDs: columns with a row for each ID, in the order of the IDs. A column becomes an Array when
  # it is first read; {#bytes} returns it without one.
  #
  # A refused ID has -1 in all columns, and an entry in {#errors}. Columns that were not requested are empty;
  # {#last_run_unix_millis} is filled only if the call names it.
  class PackedAssignments
    # The columns: the numbers of their fields in the message, and how their values are unpacked.
    COLUMNS = {
      slot_indexes: [2, "l<*"], slot_offset_ticks: [3, "q<*"], cycle_offset_ticks: [4, "q<*"],
      cycle_indexes: [5, "q<*"], next_run_unix_millis: [6, "q<*"], last_run_unix_millis: [7, "q<*"]
    }.freeze
    ASSIGNMENTS = 2 # the number of the field in AssignSlotsResponse
    private_constant :COLUMNS, :ASSIGNMENTS

    # The beginning of the run keys: the key of a row's next run is run_key_prefix/cycle_index/0/ID, with the canonical
    # text of the ID. {Offbeat.run_id} derives its run ID.
    attr_reader :run_key_prefix
    attr_reader :errors, :fingerprint, :time_zone_database
    # Where the IDs were decided: :local or :sidecar. Both give the same answer.
    attr_reader :decided_by
    # The length of a tick in seconds.
    attr_reader :resolution

    def initialize
      @bytes = COLUMNS.transform_values { "" }
      @columns, @errors = {}, []
      @run_key_prefix, @fingerprint, @resolution, @decided_by = "", "", 1, nil
    end

    # The number of rows.
    def size
      @bytes.map { |name, bytes| bytes.bytesize / (name == :slot_indexes ? 4 : 8) }.max
    end

    # The bytes of a column, little-endian: 4 for each slot index, 8 for all other numbers.
    def bytes(column)
      @bytes.fetch(column)
    end

    def slot_indexes
      numbers(:slot_indexes)
    end

    def slot_offset_ticks
      numbers(:slot_offset_ticks)
    end

    def cycle_offset_ticks
      numbers(:cycle_offset_ticks)
    end

    def cycle_indexes
      numbers(:cycle_indexes)
    end

    def next_run_unix_millis
      numbers(:next_run_unix_millis)
    end

    # -1 also if exclusions skip the previous 1,000 cycles.
    def last_run_unix_millis
      numbers(:last_run_unix_millis)
    end

    # Appends the answer to one message, given as bytes.
    def add(response, decided_by)
      first = size
      found, rest = Wire.taken(response, [ASSIGNMENTS])
      identify(V1::AssignSlotsResponse.decode(rest), decided_by)
      columns, rest = Wire.taken(found[ASSIGNMENTS], COLUMNS.each_value.map(&:first))
      COLUMNS.each { |name, (number, _)| @bytes[name] = first.zero? ? columns[number] : @bytes[name] + columns[number] }
      message = V1::SlotAssignments.decode(rest)
      @resolution = Times.from_duration(message.resolution)
      @run_key_prefix = message.run_key_prefix
      @errors.concat(message.errors.map { |error| IdError.of(error, first) })
      @columns.clear
      self
    end

    # Takes over the fingerprint of the schedule, and where it was decided: :sidecar, if a sidecar has decided a part.
    def identify(response, decided_by)
      @fingerprint = response.identity.fingerprint
      @time_zone_database = Fields.name_or_nil(response.identity.time_zone_database)
      @decided_by = decided_by unless @decided_by == :sidecar
    end

    private

    def numbers(name)
      @columns[name] ||= bytes(name).unpack(COLUMNS.fetch(name).last)
    end
  end

  # Packed IDs of one call, as bytes.
  class PackedIds
    COLUMNS = { uuids: [1, 16], integers: [3, 8] }.freeze # numbers of the fields in IdBatch, and bytes of an ID
    ZONE_INDEXES = 8 # the number of the field in IdBatch
    ZONE_INDEX_BYTES = 4
    IDS = 2 # the number of the field in AssignSlotsRequest

    # @param zones the time zones that IDs live in; nil if all live in that of the schedule
    # @param zone_indexes the index in zones for each ID, as bytes
    def initialize(given, zones = nil, zone_indexes = nil)
      given = given.compact
      raise Offbeat.refused("uuids", given.keys, "must be given, or integers in its place") unless given.size == 1

      @name, @bytes = given.first
      @number, @size = COLUMNS.fetch(@name)
      unless @bytes.is_a?(String) && (@bytes.bytesize % @size).zero?
        raise Offbeat.refused(@name.to_s, @bytes.class, "must be a String of #{@size} bytes for each ID")
      end

      take_zones(zones, zone_indexes) if zones || zone_indexes
    end

    # Yields the bytes of the request for each batch, which begin with `opening`.
    def each_question(opening)
      step = IdEncoder::BATCH_IDS * @size
      0.step(@bytes.bytesize - 1, step) do |start|
        length = [step, @bytes.bytesize - start].min
        head = zones_of(start / @size, length / @size) << Wire.head(@number, length)
        capacity = opening.bytesize + head.bytesize + length + 16
        question = String.new(opening, capacity: capacity, encoding: Encoding::BINARY)
        question << Wire.head(IDS, head.bytesize + length) << head
        yield question << (length == @bytes.bytesize ? @bytes : @bytes.byteslice(start, length)).b
      end
    end

    private

    def take_zones(zones, indexes)
      count = @bytes.bytesize / @size
      unless indexes.is_a?(String) && indexes.bytesize == count * ZONE_INDEX_BYTES
        raise Offbeat.refused("time_zone_indexes", indexes.class,
                              "must be a String of #{ZONE_INDEX_BYTES} bytes for each ID, with time_zones")
      end

      column = V1::IdBatch.new
      Fields.add_time_zones(column, zones)
      @zones, @zone_indexes = V1::IdBatch.encode(column), indexes
    end

    # The fields with the time zones of `count` IDs.
    def zones_of(first, count)
      return +"".b unless @zones

      length = count * ZONE_INDEX_BYTES
      @zones.b << Wire.head(ZONE_INDEXES, length) << @zone_indexes.byteslice(first * ZONE_INDEX_BYTES, length).b
    end
  end
  private_constant :PackedIds
end
