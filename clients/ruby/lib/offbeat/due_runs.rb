# frozen_string_literal: true

module Offbeat
  # Runs that are due, in the order of the IDs, their pieces and their cycles, each a {Run}; and the columns they
  # come from: {#id_indexes} says which of {#ids} a run is. Refused IDs have no runs and stand in {#errors}.
  #
  # {#next_watermark} is for the next question. Until {#next_due_time} no further run of these IDs is due: nil
  # if exclusions skip all of theirs for long. Of the runs that were missed, {#late_run_count} run now,
  # {#dropped_run_count} do not by the policy or the horizon, and {#superseded_run_count} do not since the next
  # run of the ID comes first, or too soon after. {#skipped_run_count} runs do not happen, by an exclusion or a
  # day that the clock skips.
  class DueRuns
    include Enumerable

    COLUMNS = %w[piece_indexes cycle_indexes scheduled_unix_millis start_unix_millis].freeze
    COUNTS = %w[late_run_count dropped_run_count superseded_run_count skipped_run_count].freeze
    private_constant :COLUMNS, :COUNTS

    attr_reader :ids, :id_indexes, :piece_indexes, :cycle_indexes, :scheduled_unix_millis, :start_unix_millis,
                :errors, :next_watermark, :next_due_time, :late_run_count, :dropped_run_count, :superseded_run_count,
                :skipped_run_count, :fingerprint, :time_zone_database

    # @param parts pairs of IDs and the pages of the answer about them
    def initialize(encoder, parts)
      firsts = parts.inject([0]) { |sums, (ids, _)| sums << (sums.last + ids.size) }
      pages = parts.zip(firsts).flat_map { |(_, answers), first| answers.map { |answer| [answer.runs, first] } }
      @ids = parts.flat_map(&:first).freeze
      @id_indexes = pages.flat_map { |runs, first| runs.id_indexes.map { |id| first + id } }.freeze
      # They stand on every page.
      @errors = pages.flat_map { |runs, first| runs.errors.map { |error| IdError.of(error, first) } }.uniq.freeze
      @piece_indexes, @cycle_indexes, @scheduled_unix_millis, @start_unix_millis =
        COLUMNS.map { |name| pages.flat_map { |runs, _| runs[name].to_a }.freeze }
      @runs = ColumnRuns.new(encoder, pages.first.first.run_key_prefix)
      sum_up(parts.map { |_, answers| answers.last })
      freeze
    end

    def size
      cycle_indexes.size
    end

    def each
      return enum_for(:each) { size } unless block_given?

      size.times { |index| yield self[index] }
    end

    def [](index)
      @runs.run(ids[id_indexes.fetch(index)], piece_indexes[index], cycle_indexes[index],
                scheduled_unix_millis[index], start_unix_millis[index])
    end

    # Equal for two attempts to enqueue a run; empty for a fraction, which is no identity.
    def run_key(index)
      @runs.key(ids[id_indexes.fetch(index)], piece_indexes[index], cycle_indexes[index])
    end

    private

    # @param answers the last page of each, which has the figures of all
    def sum_up(answers)
      @late_run_count, @dropped_run_count, @superseded_run_count, @skipped_run_count =
        COUNTS.map { |name| answers.sum { |answer| answer[name] } }
      @next_watermark = Times.from_timestamp(answers.first.next_watermark)
      @next_due_time = answers.filter_map { |answer| Times.from_optional_timestamp(answer.next_due_time) }.min
      identity = answers.first.identity
      @fingerprint = identity.fingerprint
      @time_zone_database = Fields.name_or_nil(identity.time_zone_database)
    end
  end
end
