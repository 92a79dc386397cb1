# frozen_string_literal: true

module Offbeat
  # A plan for moving IDs from one schedule to another. Each ID runs by the old schedule before the cutover, and by the
  # new schedule from the cutover on. New runs that come too soon after the last old run are left out. Spans are in
  # seconds.
  #
  # `path` says what moves: :unchanged and :same_times (no ID moves), :same_order (each ID keeps its share of the cycle)
  # or :new_places. `advice` is a cheaper way to the same end, or nil. `max_gap_bound` is an upper bound for the time
  # from the last old run to the first new run of any ID; it is nil with exclusions, which may skip any run. `ids` are
  # the {MigratedIds} of the call, or nil if it had none. `steps` are the plan in SQL, if the call had a {SqlTarget}.
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

    # The errors of the refused IDs, for {BadIds}.
    def errors
      ids ? ids.errors : []
    end
  end

  # The rows to enqueue, once each, in the half-open span from `start_time` to `end_time`: those that `predicate`
  # selects.
  MigrationStep = Value.define(:start_time, :end_time, :by_new_schedule, :predicate) do
    # @param indexes the {SqlIndex} of the old schedule, and that of the new one
    def self.of(message, indexes, sql_target)
      index = message.by_new_schedule ? indexes.last : indexes.first
      new(start_time: Times.from_timestamp(message.start_time), end_time: Times.from_timestamp(message.end_time),
          by_new_schedule: message.by_new_schedule,
          predicate: Predicate.of(message.predicate, index, sql_target))
    end
  end

  # One migrated ID: its last {Run} by the old schedule, and its first {Run} by the new one.
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

  # Migrated IDs, one row for each, and the columns that the rows are made from. A refused ID has -1 in every column,
  # and an entry in {#errors}. Reading its row raises KeyError; {#accepted} skips it.
  #
  # {#observed_min_gap} and {#observed_max_gap} are the shortest and the longest time from the last old to the first new
  # run of an ID, in seconds. Both are nil if every ID was refused.
  class MigratedIds
    include Enumerable

    COLUMNS = %w[last_old_unix_millis last_old_cycle_indexes first_new_unix_millis first_new_cycle_indexes].freeze
    private_constant :COLUMNS

    attr_reader :ids, :last_old_unix_millis, :last_old_cycle_indexes, :first_new_unix_millis, :first_new_cycle_indexes,
                :moved_id_count, :left_out_run_count, :observed_min_gap, :observed_max_gap,
                :errors

    # @param parts pairs: the IDs of a batch, and the message that answers them
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

    # The share of IDs whose first new run is not when the old schedule would have run them next: 0 to 1, without the
    # IDs that were refused.
    def moved_ratio
      count = size.times.count { |row| !refused?(row) }
      count.zero? ? 0.0 : moved_id_count.fdiv(count)
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
      id = ids.fetch(index)
      raise KeyError, "ids[#{index}] was refused: see errors" if refused?(index)

      MigratedId.new(id: id,
                     last_old_run: @old_runs.run(id, 0, last_old_cycle_indexes[index], last_old_unix_millis[index]),
                     first_new_run: @new_runs.run(id, 0, first_new_cycle_indexes[index], first_new_unix_millis[index]))
    end

    private

    # Whether an ID was refused: only then are all columns -1. An old or a new run may be at -1 ms or in cycle -1, but
    # never both of them.
    def refused?(row)
      [last_old_unix_millis, last_old_cycle_indexes, first_new_unix_millis, first_new_cycle_indexes]
        .all? { |column| column[row] == -1 }
    end
  end
end
