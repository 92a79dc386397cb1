# frozen_string_literal: true

module Offbeat
  # Why one ID of a batch was refused; the index counts from the first of the call.
  IdError = Struct.new(:id_index, :reason, :field, :value, :allowed, keyword_init: true) do
    # The error as the whole call counts; its message's IDs begin at `first`.
    def self.of(message, first)
      index = first + message.id_index
      new(id_index: index, reason: message.reason.to_s, field: "ids[#{index}]", value: message.value,
          allowed: message.allowed)
    end
  end

  # One ID of a batch, or one piece of it: its place, and its next run. Offsets are in seconds.
  Row = Struct.new(:id, :slot_index, :slot_offset, :cycle_offset, :cycle_index, :next_run_time, :run_key,
                   :piece_index, keyword_init: true)

  # Assignments of a batch: rows, and the columns they come from. There is one row for each ID, or with
  # weights for each piece of each: {#id_indexes} says which of {#ids} a row is.
  #
  # A refused ID holds -1 in all columns and stands in {#errors}; its row raises
  # KeyError, and {#accepted} passes over it.
  class SlotAssignments
    include Enumerable

    attr_reader :ids, :slot_indexes, :slot_offset_ticks, :cycle_offset_ticks, :cycle_indexes,
                :next_run_unix_millis, :errors, :first_id_index
    attr_accessor :fingerprint

    def initialize(encoder, first_id_index = 0)
      @encoder, @first_id_index = encoder, first_id_index
      @ids, @slot_indexes, @slot_offset_ticks, @cycle_offset_ticks = [], [], [], []
      @cycle_indexes, @next_run_unix_millis, @errors = [], [], []
      @id_indexes = @piece_indexes = nil
      @resolution, @run_key_prefix, @fingerprint = 1, "", ""
    end

    # The number of rows.
    def size
      slot_indexes.size
    end

    # Which of the IDs each row is.
    def id_indexes
      @id_indexes || Array.new(size) { |row| row }
    end

    # Which piece of its ID each row is, from 0.
    def piece_indexes
      @piece_indexes || Array.new(size, 0)
    end

    def each
      return enum_for(:each) { size } unless block_given?

      size.times { |index| yield self[index] }
    end

    # The rows of the IDs that were not refused; lazily.
    def accepted
      Enumerator.new { |rows| size.times { |index| rows << self[index] unless slot_indexes[index].negative? } }
    end

    def [](index)
      check(index)
      Row.new(id: ids[id_index(index)], slot_index: slot_indexes[index],
              slot_offset: Times.whole(slot_offset_ticks[index] * @resolution.to_r),
              cycle_offset: Times.whole(cycle_offset_ticks[index] * @resolution.to_r),
              cycle_index: cycle_indexes[index], next_run_time: Times.from_unix_millis(next_run_unix_millis[index]),
              run_key: run_key(index), piece_index: piece_index(index))
    end

    # Equal for two attempts to enqueue a row's next run; empty for a fraction, which is no identity.
    def run_key(index)
      check(index)
      @encoder.run_key(@run_key_prefix, cycle_indexes[index], piece_index(index), ids[id_index(index)])
    end

    # Appends the answer of one message.
    def add(batch, columns)
      add_indexes(columns)
      first = first_id_index + ids.size
      @ids.concat(batch)
      @slot_indexes.concat(columns.slot_indexes.to_a)
      @slot_offset_ticks.concat(columns.slot_offset_ticks.to_a)
      @cycle_offset_ticks.concat(columns.cycle_offset_ticks.to_a)
      @cycle_indexes.concat(columns.cycle_indexes.to_a)
      @next_run_unix_millis.concat(columns.next_run_unix_millis.to_a)
      @resolution = Times.from_duration(columns.resolution)
      @run_key_prefix = columns.run_key_prefix
      @errors.concat(columns.errors.map { |error| IdError.of(error, first) })
      self
    end

    private

    # With weights only: rows are IDs otherwise.
    def add_indexes(columns)
      return if columns.id_indexes.empty?

      (@id_indexes ||= []).concat(columns.id_indexes.map { |index| ids.size + index })
      (@piece_indexes ||= []).concat(columns.piece_indexes.to_a)
    end

    def id_index(row)
      @id_indexes ? @id_indexes[row] : row
    end

    def piece_index(row)
      @piece_indexes ? @piece_indexes[row] : 0
    end

    def check(index)
      slot = slot_indexes.fetch(index)
      raise KeyError, "ids[#{first_id_index + id_index(index)}] was refused: see errors" if slot.negative?
    end
  end
end
