# frozen_string_literal: true

module Offbeat
  # One run that is due: when it should have started, which is what lateness is measured from, and when to
  # start it: a run that was missed now or later, others at their time.
  DueRun = Value.define(:id, :piece_index, :cycle_index, :scheduled_time, :start_time, :run_key)

  # Runs that are due, in the order of the IDs, their pieces and their cycles; and the columns they come from:
  # {#id_indexes} says which of {#ids} a run is. Refused IDs have no runs and stand in {#errors}.
  #
  # {#next_watermark} is for the next question, {#late_run_count} how many runs were missed and run now,
  # {#dropped_run_count} how many were missed and do not run.
  class DueRuns
    include Enumerable

    attr_reader :ids, :id_indexes, :piece_indexes, :cycle_indexes, :scheduled_unix_millis, :start_unix_millis,
                :errors, :next_watermark, :late_run_count, :dropped_run_count, :fingerprint

    # @param parts pairs of IDs and the answer about them
    def initialize(encoder, parts)
      @encoder = encoder
      answers = parts.map(&:last)
      @ids = parts.flat_map(&:first).freeze
      firsts = parts.inject([0]) { |sums, (ids, _)| sums << (sums.last + ids.size) }
      @id_indexes = answers.zip(firsts).flat_map { |answer, first| answer.runs.id_indexes.map { |id| first + id } }.freeze
      @errors = answers.zip(firsts).flat_map { |answer, first| answer.runs.errors.map { |e| IdError.of(e, first) } }.freeze
      @piece_indexes, @cycle_indexes, @scheduled_unix_millis, @start_unix_millis =
        %w[piece_indexes cycle_indexes scheduled_unix_millis start_unix_millis].map do |name|
          answers.flat_map { |answer| answer.runs[name].to_a }.freeze
        end
      @late_run_count, @dropped_run_count = answers.sum(&:late_run_count), answers.sum(&:dropped_run_count)
      @run_key_prefix = answers.first.runs.run_key_prefix
      @next_watermark = Times.from_timestamp(answers.first.next_watermark)
      @fingerprint = answers.first.identity.fingerprint
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
      DueRun.new(id: ids[id_indexes.fetch(index)], piece_index: piece_indexes[index],
                 cycle_index: cycle_indexes[index],
                 scheduled_time: Times.from_unix_millis(scheduled_unix_millis[index]),
                 start_time: Times.from_unix_millis(start_unix_millis[index]), run_key: run_key(index))
    end

    # Equal for two attempts to enqueue a run; empty for a fraction, which is no identity.
    def run_key(index)
      id = ids[id_indexes.fetch(index)]
      @encoder.run_key(@run_key_prefix, cycle_indexes[index], piece_indexes[index], id)
    end
  end
end
