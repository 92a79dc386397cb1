# frozen_string_literal: true

module Offbeat
  # How IDs go over from one schedule to another: each ID runs by the old one before the cutover and by the new one
  # from it on; new runs that come too soon after the last old one are left out. Spans are in seconds.
  #
  # `path` says what moves: :unchanged, :same_times (nobody), :same_order (each ID keeps its share of the
  # cycle) or :new_places; `advice` is a cheaper way, or nil. No ID waits longer than `max_gap_bound`
  # between its runs; nil with exclusions, which may skip any run. `ids` are the {MigratedIds} that were asked
  # about, if any were; `steps` say the plan in SQL, if a column was named.
  MigrationPlan = Value.define(:old_fingerprint, :new_fingerprint, :cutover_time, :path, :advice, :max_gap_bound, :ids,
                               :steps, :sql_indexes) do
    def self.of(message, ids, sql_target)
      indexes = message.sql_indexes.map { |index| SqlIndex.of(index) }
      new(old_fingerprint: message.old_identity.fingerprint, new_fingerprint: message.new_identity.fingerprint,
          cutover_time: Times.from_timestamp(message.cutover_time),
          path: Fields.symbol(message.path, "MIGRATION_PATH_"), advice: Fields.name_or_nil(message.advice),
          max_gap_bound: Times.from_optional(message.max_gap_bound), ids: ids,
          steps: message.steps.map { |step| MigrationStep.of(step, indexes, sql_target) }, sql_indexes: indexes)
    end

    # What {BadIds} asks for.
    def errors
      ids ? ids.errors : []
    end
  end

  # What to enqueue in the half-open span from start to end: the rows that the predicate selects, once.
  MigrationStep = Value.define(:start_time, :end_time, :by_new_schedule, :predicate) do
    # @param indexes of the old schedule, and of the new one
    def self.of(message, indexes, sql_target)
      index = message.by_new_schedule ? indexes.last : indexes.first
      new(start_time: Times.from_timestamp(message.start_time), end_time: Times.from_timestamp(message.end_time),
          by_new_schedule: message.by_new_schedule,
          predicate: Predicate.of(message.predicate, index, sql_target))
    end
  end

  # One ID that goes over: its last {Run} by the old schedule, and its first by the new one.
  MigratedId = Value.define(:id, :last_old_run, :first_new_run) do
    def last_old_time
      last_old_run.start_time
    end

    def last_old_cycle_index
      last_old_run.cycle_index
    end

    def last_old_run_key
      last_old_run.run_key
    end

    def first_new_time
      first_new_run.start_time
    end

    def first_new_cycle_index
      first_new_run.cycle_index
    end

    def first_new_run_key
      first_new_run.run_key
    end
  end

  # IDs that go over, one row for each, and the columns they come from. A refused ID holds -1 in all of them
  # and stands in {#errors}; its row raises KeyError, and {#accepted} passes over it.
  #
  # {#observed_min_gap} and {#observed_max_gap} are the shortest and the longest time from the last old to the first
  # new run of an ID, in seconds; nil if all are refused.
  class MigratedIds
    include Enumerable

    COLUMNS = %w[last_old_unix_millis last_old_cycle_indexes first_new_unix_millis first_new_cycle_indexes].freeze
    private_constant :COLUMNS

    attr_reader :ids, :last_old_unix_millis, :last_old_cycle_indexes, :first_new_unix_millis, :first_new_cycle_indexes,
                :moved_id_count, :left_out_run_count, :observed_min_gap, :observed_max_gap,
                :errors

    # @param parts pairs of IDs and the message about them
    def initialize(encoder, parts)
      messages = parts.map(&:last)
      @ids = parts.flat_map(&:first).freeze
      firsts = parts.inject([0]) { |sums, (ids, _)| sums << (sums.last + ids.size) }
      @last_old_unix_millis, @last_old_cycle_indexes, @first_new_unix_millis, @first_new_cycle_indexes =
        COLUMNS.map { |name| messages.flat_map { |message| message[name].to_a }.freeze }
      @errors = messages.zip(firsts).flat_map { |message, first| message.errors.map { |e| IdError.of(e, first) } }.freeze
      @moved_id_count, @left_out_run_count = messages.sum(&:moved_id_count), messages.sum(&:left_out_run_count)
      @observed_min_gap = messages.filter_map { |message| Times.from_optional(message.observed_min_gap) }.min
      @observed_max_gap = messages.filter_map { |message| Times.from_optional(message.observed_max_gap) }.max
      prefixes = messages.first(1).flat_map { |message| [message.old_run_key_prefix, message.new_run_key_prefix] }
      @old_runs, @new_runs = prefixes.map { |prefix| ColumnRuns.new(encoder, prefix) }
      freeze
    end

    def size
      ids.size
    end

    # IDs whose first new run is not when the old schedule would have run them, as a share of those that were
    # not refused: 0 to 1.
    def moved_ratio
      count = size.times.count { |row| !refused?(row) }
      count.zero? ? 0.0 : moved_id_count.fdiv(count)
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
      id = ids.fetch(index)
      raise KeyError, "ids[#{index}] was refused: see errors" if refused?(index)

      MigratedId.new(id: id,
                     last_old_run: @old_runs.run(id, 0, last_old_cycle_indexes[index], last_old_unix_millis[index]),
                     first_new_run: @new_runs.run(id, 0, first_new_cycle_indexes[index], first_new_unix_millis[index]))
    end

    private

    # One run may be at -1, or in cycle -1; the last old run and the first new one are never both.
    def refused?(row)
      [last_old_unix_millis, last_old_cycle_indexes, first_new_unix_millis, first_new_cycle_indexes]
        .all? { |column| column[row] == -1 }
    end
  end
end
