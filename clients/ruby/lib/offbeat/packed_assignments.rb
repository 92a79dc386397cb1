# frozen_string_literal: true

require_relative "wire"

module Offbeat
  # Assignments of packed IDs: columns with a row for each ID, in the order of the IDs. A column becomes an
  # Array when it is first asked for, and {#bytes} are there without one.
  #
  # A refused ID holds -1 in all columns and stands in {#errors}. Columns that were not asked for are empty.
  class PackedAssignments
    # The columns: their fields in the message, and how their numbers are unpacked.
    COLUMNS = {
      slot_indexes: [2, "l<*"], slot_offset_ticks: [3, "q<*"], cycle_offset_ticks: [4, "q<*"],
      cycle_indexes: [5, "q<*"], next_run_unix_millis: [6, "q<*"]
    }.freeze
    ASSIGNMENTS = 2 # the field of AssignSlotsResponse
    private_constant :COLUMNS, :ASSIGNMENTS

    # What the run keys begin with: the key of a row's next run is run_key_prefix/cycle_index/0/ID, with the
    # canonical text of the ID.
    attr_reader :run_key_prefix
    attr_reader :errors, :fingerprint
    # The length of a tick in seconds.
    attr_reader :resolution

    def initialize
      @bytes = COLUMNS.transform_values { "" }
      @columns, @errors = {}, []
      @run_key_prefix, @fingerprint, @resolution = "", "", 1
    end

    # The number of rows.
    def size
      @bytes.map { |name, bytes| bytes.bytesize / (name == :slot_indexes ? 4 : 8) }.max
    end

    # The bytes of a column, little-endian: 4 of each slot, 8 of all other numbers.
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

    # Appends the answer of one message.
    def add(response)
      first = size
      found, rest = Wire.taken(response, [ASSIGNMENTS])
      @fingerprint = V1::AssignSlotsResponse.decode(rest).identity.fingerprint
      columns, rest = Wire.taken(found[ASSIGNMENTS], COLUMNS.each_value.map(&:first))
      COLUMNS.each { |name, (number, _)| @bytes[name] = first.zero? ? columns[number] : @bytes[name] + columns[number] }
      message = V1::SlotAssignments.decode(rest)
      @resolution = Times.from_duration(message.resolution)
      @run_key_prefix = message.run_key_prefix
      @errors.concat(message.errors.map { |error| IdError.of(error, first) })
      @columns.clear
      self
    end

    # That nothing was asked, of a schedule that is right.
    def nothing(fingerprint)
      @fingerprint = fingerprint
      self
    end

    private

    def numbers(name)
      @columns[name] ||= bytes(name).unpack(COLUMNS.fetch(name).last)
    end
  end

  # Packed IDs of one call, as bytes.
  class PackedIds
    COLUMNS = { uuids: [1, 16], integers: [3, 8] }.freeze # of IdColumn, and bytes of an ID
    IDS = 2 # the field of AssignSlotsRequest

    def initialize(given)
      given = given.compact
      raise Offbeat.refused("uuids", given.keys, "must be given, or integers in its place") unless given.size == 1

      @name, @bytes = given.first
      @number, @size = COLUMNS.fetch(@name)
      return if @bytes.is_a?(String) && (@bytes.bytesize % @size).zero?

      raise Offbeat.refused(@name.to_s, @bytes.class, "must be a String of #{@size} bytes for each ID")
    end

    # Yields the question about each batch, which begins with `opening`.
    def each_question(opening)
      step = IdEncoder::BATCH_IDS * @size
      0.step(@bytes.bytesize - 1, step) do |start|
        length = [step, @bytes.bytesize - start].min
        head = Wire.head(@number, length)
        question = String.new(opening, capacity: opening.bytesize + length + 16, encoding: Encoding::BINARY)
        question << Wire.head(IDS, head.bytesize + length) << head
        yield question << (length == @bytes.bytesize ? @bytes : @bytes.byteslice(start, length)).b
      end
    end
  end
  private_constant :PackedIds
end
