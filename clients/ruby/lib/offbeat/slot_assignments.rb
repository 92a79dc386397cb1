# frozen_string_literal: true

module Offbeat
  # Why one ID of a batch was refused. `id_index` counts from the first ID of the call.
  IdError = Struct.new(:id_index, :reason, :field, :value, :allowed, keyword_init: true) do
    # The error of one message, with the index that the ID has in the whole call. The IDs of the message begin at
    # `first`.
    def self.of(message, first)
      index = first + message.id_index
      new(id_index: index, reason: message.reason.to_s, field: "ids[#{index}]", value: message.value,
          allowed: message.allowed)
    end
  end

  # Makes the runs of one schedule and kind from an answer in columns.
  class ColumnRuns
    def initialize(encoder, run_key_prefix)
      @encoder, @prefix = encoder, run_key_prefix
      @kind = run_key_prefix.rpartition("/").last
    end

    def key(id, piece_index, cycle_index)
      @encoder.run_key(@prefix, cycle_index, piece_index, id)
    end

    # A run from its times, in milliseconds since the Unix epoch.
    def run(id, piece_index, cycle_index, scheduled, start = scheduled)
      key = key(id, piece_index, cycle_index)
      time = Times.from_unix_millis(scheduled)
      Run.new(id: id, kind: @kind, piece_index: piece_index, cycle_index: cycle_index, run_key: key,
              run_id: Offbeat.run_id(key), nominal_time: nil, scheduled_time: time,
              start_time: start == scheduled ? time : Times.from_unix_millis(start))
    end
  end
  private_constant :ColumnRuns

  # One ID of a batch, or one piece of an ID: its place, and its next {Run}. Offsets are in seconds. `last_run_time` is
  # when the last run started; nil unless its column was requested, or if exclusions skip the previous 1,000 cycles.
  #
  # If a call names its columns, values from other columns are nil. The next run needs both cycle_indexes and
  # next_run_unix_millis.
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

    # The key of the next run, the same for every attempt to enqueue it. Empty for a fraction, which identifies no row.
    def run_key
      next_run&.run_key
    end
  end

  # The assignments of a batch: rows, and the columns that they are made from. There is one row for each ID or, with
  # weights, for each piece of an ID; {#id_indexes} gives the index in {#ids} of the ID of each row. A column that was
  # not requested is empty; {#last_run_unix_millis} is filled only if the call names it.
  #
  # A refused ID has -1 in all columns, and an entry in {#errors}. Reading its row raises KeyError; {#accepted} skips
  # it.
  class SlotAssignments
    include Enumerable

    COLUMNS = %i[slot_indexes slot_offset_ticks cycle_offset_ticks next_run_unix_millis last_run_unix_millis
                 cycle_indexes].freeze
    private_constant :COLUMNS

    # The number of rows.
    attr_reader :size
    attr_reader :ids, :slot_indexes, :slot_offset_ticks, :cycle_offset_ticks, :cycle_indexes, :next_run_unix_millis,
                :last_run_unix_millis, :errors, :first_id_index, :fingerprint, :time_zone_database
    # Where the IDs were decided: :local or :sidecar. Both give the same answer.
    attr_reader :decided_by

    def initialize(encoder, first_id_index: 0)
      @encoder, @first_id_index, @size = encoder, first_id_index, 0
      @ids, @slot_indexes, @slot_offset_ticks, @cycle_offset_ticks = [], [], [], []
      @cycle_indexes, @next_run_unix_millis, @last_run_unix_millis, @errors = [], [], [], []
      @id_indexes = @piece_indexes = nil
      @resolution, @runs, @fingerprint, @time_zone_database = 1, nil, "", nil
      @telling, @refused_ids, @decided_by = [], {}, nil
    end

    # The index of the ID of each row.
    def id_indexes
      @id_indexes || Array.new(size) { |row| row }
    end

    # The index of the piece of each row, within its ID, from 0.
    def piece_indexes
      @piece_indexes || Array.new(size, 0)
    end

    def each
      return enum_for(:each) { size } unless block_given?

      size.times { |index| yield self[index] }
    end

    # The rows of the IDs that were not refused: an Enumerator that makes them on demand.
    def accepted
      Enumerator.new { |rows| size.times { |index| rows << self[index] unless refused?(index) } }
    end

    def [](index)
      row = checked(index)
      Row.new(id: ids[id_index(row)], piece_index: piece_index(row), slot_index: slot_indexes[row],
              slot_offset: seconds(slot_offset_ticks[row]), cycle_offset: seconds(cycle_offset_ticks[row]),
              next_run: next_run(row), last_run_time: last_run_time(row))
    end

    # The key of a row's next run, the same for every attempt to enqueue it. Empty for a fraction, which identifies no
    # row.
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

    # Takes over the fingerprint of the schedule, and where it was decided: :sidecar, if a sidecar has decided a part.
    def identify(response, decided_by)
      @fingerprint = response.identity.fingerprint
      @time_zone_database = Fields.name_or_nil(response.identity.time_zone_database)
      @decided_by = decided_by unless @decided_by == :sidecar
    end

    private

    # With weights only. Without them, the index of a row is that of its ID.
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

    # Whether a row was refused: it has -1, and its ID has an error. One of these is not enough: times and cycles before
    # the epoch can be -1 too, and some pieces of an ID may be refused while others are accepted.
    def refused?(row)
      @telling[row] == -1 && @refused_ids.key?(id_index(row))
    end

    # The row for an index, which may be negative to count from the end.
    def checked(index)
      row = index.negative? ? index + size : index
      raise IndexError, "there is no row #{index}: there are #{size}" unless row.between?(0, size - 1)
      raise KeyError, "ids[#{first_id_index + id_index(row)}] was refused: see errors" if refused?(row)

      row
    end
  end
end
