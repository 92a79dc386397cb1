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
              run_id: Offbeat.run_id(key), nominal_time: nil, scheduled_time: time,
              start_time: start == scheduled ? time : Times.from_unix_millis(start))
    end
  end
  private_constant :ColumnRuns

  # One ID of a batch, or one piece of it: its place, and its next {Run}. Offsets are in seconds. `last_run_time` is when
  # the last run started; nil unless that column was asked for, and where exclusions skip the 1,000 cycles before.
  #
  # Where a call names its columns, a row has nil for what they do not tell: the next run takes both cycle_indexes and
  # next_run_unix_millis.
  Row = Struct.new(:id, :piece_index, :slot_index, :slot_offset, :cycle_offset, :next_run, :last_run_time,
                   keyword_init: true) do
    # When the next run starts.
    def next_run_time
      next_run&.start_time
    end

    # The cycle of the next run.
    def cycle_index
      next_run&.cycle_index
    end

    # Equal for two attempts to enqueue the next run; empty for a fraction, which is no identity.
    def run_key
      next_run&.run_key
    end
  end

  # Assignments of a batch: rows, and the columns they come from. There is one row for each ID, or with
  # weights for each piece of each: {#id_indexes} says which of {#ids} a row is. A column that was not asked for is
  # empty; {#last_run_unix_millis} is there only if it was.
  #
  # A refused ID holds -1 in all columns and stands in {#errors}; its row raises
  # KeyError, and {#accepted} passes over it.
  class SlotAssignments
    include Enumerable

    COLUMNS = %i[slot_indexes slot_offset_ticks cycle_offset_ticks next_run_unix_millis last_run_unix_millis
                 cycle_indexes].freeze
    private_constant :COLUMNS

    # The number of rows.
    attr_reader :size
    attr_reader :ids, :slot_indexes, :slot_offset_ticks, :cycle_offset_ticks, :cycle_indexes, :next_run_unix_millis,
                :last_run_unix_millis, :errors, :first_id_index, :fingerprint, :time_zone_database
    # :local or :sidecar. The answers are equal.
    attr_reader :decided_by

    def initialize(encoder, first_id_index: 0)
      @encoder, @first_id_index, @size = encoder, first_id_index, 0
      @ids, @slot_indexes, @slot_offset_ticks, @cycle_offset_ticks = [], [], [], []
      @cycle_indexes, @next_run_unix_millis, @last_run_unix_millis, @errors = [], [], [], []
      @id_indexes = @piece_indexes = nil
      @resolution, @runs, @fingerprint, @time_zone_database = 1, nil, "", nil
      @telling, @refused_ids, @decided_by = [], {}, nil
    end

    # Index of the ID of each row.
    def id_indexes
      @id_indexes || Array.new(size) { |row| row }
    end

    # Index of the piece of its ID for each row, from 0.
    def piece_indexes
      @piece_indexes || Array.new(size, 0)
    end

    def each
      return enum_for(:each) { size } unless block_given?

      size.times { |index| yield self[index] }
    end

    # The rows of the IDs that were not refused; lazily.
    def accepted
      Enumerator.new { |rows| size.times { |index| rows << self[index] unless refused?(index) } }
    end

    def [](index)
      row = checked(index)
      Row.new(id: ids[id_index(row)], piece_index: piece_index(row), slot_index: slot_indexes[row],
              slot_offset: seconds(slot_offset_ticks[row]), cycle_offset: seconds(cycle_offset_ticks[row]),
              next_run: next_run(row), last_run_time: last_run_time(row))
    end

    # Equal for two attempts to enqueue a row's next run; empty for a fraction, which is no identity.
    def run_key(index)
      row = checked(index)
      @runs.key(ids[id_index(row)], piece_index(row), cycle_indexes.fetch(row))
    end

    # Appends the answer of one message.
    def add(batch, response, decided_by)
      message = response.assignments
      identify(response, decided_by)
      add_indexes(message)
      first = first_id_index + ids.size
      @ids.concat(batch)
      columns = COLUMNS.map { |name| public_send(name).concat(message[name.to_s].to_a) }
      @size = columns.map(&:size).max
      @telling = columns.find(&:any?) || []
      @resolution = Times.from_duration(message.resolution)
      @runs ||= ColumnRuns.new(@encoder, message.run_key_prefix)
      @errors.concat(message.errors.map { |error| IdError.of(error, first) })
      @refused_ids = errors.to_h { |error| [error.id_index - first_id_index, true] }
      self
    end

    # Fingerprint of the schedule, and its decider: a sidecar, if it has decided a part.
    def identify(response, decided_by)
      @fingerprint = response.identity.fingerprint
      @time_zone_database = Fields.name_or_nil(response.identity.time_zone_database)
      @decided_by = decided_by unless @decided_by == :sidecar
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

    def seconds(ticks)
      ticks && Times.whole(ticks * @resolution.to_r)
    end

    def next_run(row)
      cycle, millis = cycle_indexes[row], next_run_unix_millis[row]
      @runs.run(ids[id_index(row)], piece_index(row), cycle, millis) if cycle && millis
    end

    def last_run_time(row)
      millis = last_run_unix_millis[row]
      Times.from_unix_millis(millis) unless millis.nil? || millis == -1
    end

    # Times and cycles before the epoch can be -1 too; and of the pieces of an ID, some may be refused.
    def refused?(row)
      @telling[row] == -1 && @refused_ids.key?(id_index(row))
    end

    # The row of an index, which may count from the end.
    def checked(index)
      row = index.negative? ? index + size : index
      raise IndexError, "there is no row #{index}: there are #{size}" unless row.between?(0, size - 1)
      raise KeyError, "ids[#{first_id_index + id_index(row)}] was refused: see errors" if refused?(row)

      row
    end
  end
end
