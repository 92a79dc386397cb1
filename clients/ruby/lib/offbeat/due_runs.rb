# frozen_string_literal: true

require_relative "value"

module Offbeat
  # How {Client#list_due_runs} treats missed runs. nil stands for the sidecar's default. Spans are in seconds.
  #
  #   Offbeat::CatchUpPolicy.new(missed_run_policy: :run_all, horizon: 86_400, smear_span: 600)
  CatchUpPolicy = Value.define(:missed_run_policy, :on_time_tolerance, :horizon, :smear_span, :min_gap) do
    # @param missed_run_policy :run_once (the default: the latest of each ID), :run_all or :drop
    # @param on_time_tolerance runs that are late by at most this are on time, not missed. Use at least the time between
    #   two calls. If the schedule declares kinds, at most what the run time of a kind leaves of its run budget. Must be
    #   given with :drop. Default: 60, or the largest allowed value if that is shorter
    # @param horizon missed runs older than this are dropped. Default: the shortest cycle
    # @param smear_span missed runs start spread over this span, instead of all at once. Refused if the schedule
    #   declares kinds: its catch_up_span decides, so that kinds keep apart. Default: 0
    # @param min_gap with :run_once, a missed run does not run if it would start at or after the next run of its ID, or
    #   less than this before it. Default: 0
    def initialize(missed_run_policy: nil, on_time_tolerance: nil, horizon: nil, smear_span: nil, min_gap: nil)
      super
    end

    # The policy as its message; the path names it in refusals.
    def to_message(path)
      message = V1::CatchUpPolicy.new
      if missed_run_policy
        message.missed_run_policy = Offbeat.named("#{path}.missed_run_policy", missed_run_policy,
                                                  CatchUpPolicy::MISSED_RUN_POLICIES)
      end
      Fields.set_spans(message, self, path, %w[on_time_tolerance horizon smear_span min_gap])
      message
    end
  end
  CatchUpPolicy::MISSED_RUN_POLICIES = {
    drop: :MISSED_RUN_POLICY_DROP, run_once: :MISSED_RUN_POLICY_RUN_ONCE, run_all: :MISSED_RUN_POLICY_RUN_ALL
  }.freeze

  # The runs that are due, each a {Run}, in the order of IDs, pieces and cycles; and the columns that they are made
  # from. {#id_indexes} gives the index in {#ids} of the ID of each run. Refused IDs have no runs, and an entry in
  # {#errors}.
  #
  # {#next_watermark_time} is the watermark of the next call. {#next_due_time} is when the next run of these IDs that is
  # not listed here is due; nil if exclusions skip all runs for 64 cycles. Of the missed runs, {#late_run_count} run
  # now, {#dropped_run_count} do not run because of the policy or the horizon, and {#superseded_run_count} do not run
  # because the next run of the ID would come first, at the same time or too soon after. {#skipped_run_count} runs do
  # not happen because of an exclusion, or because the clock skips their day.
  class DueRuns
    include Enumerable

    COLUMNS = %w[piece_indexes cycle_indexes scheduled_unix_millis start_unix_millis].freeze
    COUNTS = %w[late_run_count dropped_run_count superseded_run_count skipped_run_count].freeze
    private_constant :COLUMNS, :COUNTS

    attr_reader :ids, :id_indexes, :piece_indexes, :cycle_indexes, :scheduled_unix_millis, :start_unix_millis,
                :errors, :next_watermark_time, :next_due_time, :late_run_count, :dropped_run_count, :superseded_run_count,
                :skipped_run_count, :fingerprint, :time_zone_database
    # Where the runs were decided: :local or :sidecar. Both give the same answer.
    attr_reader :decided_by

    # @param parts pairs: the IDs of a batch, and the pages of its answer
    def initialize(encoder, parts, decided_by = :sidecar)
      @decided_by = decided_by
      firsts = parts.inject([0]) { |sums, (ids, _)| sums << (sums.last + ids.size) }
      pages = parts.zip(firsts).flat_map { |(_, answers), first| answers.map { |answer| [answer.runs, first] } }
      @ids = parts.flat_map(&:first).freeze
      @id_indexes = pages.flat_map { |runs, first| runs.id_indexes.map { |id| first + id } }.freeze
      # Each page repeats all errors.
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

    # The key of a run, the same for every attempt to enqueue it. Empty for a fraction, which identifies no row.
    def run_key(index)
      @runs.key(ids[id_indexes.fetch(index)], piece_indexes[index], cycle_indexes[index])
    end

    private

    # @param answers the last page of each batch, which has the counts of all its pages
    def sum_up(answers)
      @late_run_count, @dropped_run_count, @superseded_run_count, @skipped_run_count =
        COUNTS.map { |name| answers.sum { |answer| answer[name] } }
      @next_watermark_time = Times.from_timestamp(answers.first.next_watermark_time)
      @next_due_time = answers.filter_map { |answer| Times.from_optional_timestamp(answer.next_due_time) }.min
      identity = answers.first.identity
      @fingerprint = identity.fingerprint
      @time_zone_database = Fields.name_or_nil(identity.time_zone_database)
    end
  end
end
