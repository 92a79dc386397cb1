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

  # The runs of one schedule and kind in an answer of columns.
  class ColumnRuns
    def initialize(encoder, run_key_prefix)
      @encoder, @prefix = encoder, run_key_prefix
      @kind = run_key_prefix.rpartition("/").last
    end

    # The key of a run.
    def key(id, piece_index, cycle_index)
      @encoder.run_key(@prefix, cycle_index, piece_index, id)
    end

    # A run by its times in milliseconds.
    def run(id, piece_index, cycle_index, scheduled, start = scheduled)
      key = key(id, piece_index, cycle_index)
      time = Times.from_unix_millis(scheduled)
      Run.new(id: id, kind: @kind, piece_index: piece_index, cycle_index: cycle_index, run_key: key,
              run_id: Offbeat.run_id(key), regular_time: nil, scheduled_time: time,
              start_time: start == scheduled ? time : Times.from_unix_millis(start))
    end
  end
  private_constant :ColumnRuns

  # One ID of a batch, or one piece of it: its place, and its next {Run}. Offsets are in seconds.
  Row = Struct.new(:id, :piece_index, :slot_index, :slot_offset, :cycle_offset, :next_run, keyword_init: true) do
    # When the next run starts.
    def next_run_time
      next_run.start_time
    end

    # The cycle of the next run.
    def cycle_index
      next_run.cycle_index
    end

    # Equal for two attempts to enqueue the next run; empty for a fraction, which is no identity.
    def run_key
      next_run.run_key
    end
  end

  # Assignments of a batch: rows, and the columns they come from. There is one row for each ID, or with
  # weights for each piece of each: {#id_indexes} says which of {#ids} a row is.
  #
  # A refused ID holds -1 in all columns and stands in {#errors}; its row raises
  # KeyError, and {#accepted} passes over it.
  class SlotAssignments
    include Enumerable

    attr_reader :ids, :slot_indexes, :slot_offset_ticks, :cycle_offset_ticks, :cycle_indexes,
                :next_run_unix_millis, :errors, :first_id_index, :fingerprint, :time_zone_database

    def initialize(encoder, first_id_index = 0)
      @encoder, @first_id_index = encoder, first_id_index
      @ids, @slot_indexes, @slot_offset_ticks, @cycle_offset_ticks = [], [], [], []
      @cycle_indexes, @next_run_unix_millis, @errors = [], [], []
      @id_indexes = @piece_indexes = nil
      @resolution, @runs, @fingerprint, @time_zone_database = 1, nil, "", nil
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
      id, piece = ids[id_index(index)], piece_index(index)
      Row.new(id: id, piece_index: piece, slot_index: slot_indexes[index],
              slot_offset: Times.whole(slot_offset_ticks[index] * @resolution.to_r),
              cycle_offset: Times.whole(cycle_offset_ticks[index] * @resolution.to_r),
              next_run: @runs.run(id, piece, cycle_indexes[index], next_run_unix_millis[index]))
    end

    # Equal for two attempts to enqueue a row's next run; empty for a fraction, which is no identity.
    def run_key(index)
      check(index)
      @runs.key(ids[id_index(index)], piece_index(index), cycle_indexes[index])
    end

    # Appends the answer of one message.
    def add(batch, response)
      columns = response.assignments
      self.identity = response.identity
      add_indexes(columns)
      first = first_id_index + ids.size
      @ids.concat(batch)
      @slot_indexes.concat(columns.slot_indexes.to_a)
      @slot_offset_ticks.concat(columns.slot_offset_ticks.to_a)
      @cycle_offset_ticks.concat(columns.cycle_offset_ticks.to_a)
      @cycle_indexes.concat(columns.cycle_indexes.to_a)
      @next_run_unix_millis.concat(columns.next_run_unix_millis.to_a)
      @resolution = Times.from_duration(columns.resolution)
      @runs ||= ColumnRuns.new(@encoder, columns.run_key_prefix)
      @errors.concat(columns.errors.map { |error| IdError.of(error, first) })
      self
    end

    # What tells the schedule from others.
    def identity=(message)
      @fingerprint = message.fingerprint
      @time_zone_database = Fields.name_or_nil(message.time_zone_database)
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
