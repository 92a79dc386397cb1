# frozen_string_literal: true

module Offbeat
  # One run of an ID. The run key is equal for two attempts to enqueue it, and empty for a fraction.
  Run = Struct.new(:start_time, :cycle_index, :run_key, keyword_init: true)

  # Where an ID stands, and when it runs. Offsets are in seconds; `reason` is what
  # decided: the hash in hexadecimal, the bucket, or the fraction.
  Assignment = Struct.new(:id, :slot_index, :slot_offset, :cycle_offset, :last_run, :next_runs,
                          :fingerprint, :canonical_id, :reason, keyword_init: true) do
    def next_run
      next_runs.first or raise IndexError, "no next run was asked for"
    end
  end

  # Why one ID of a batch was refused; the index counts from the first of the call.
  IdError = Struct.new(:id_index, :reason, :field, :value, :allowed, keyword_init: true)

  # One ID of a batch: its place, and its next run. Offsets are in seconds.
  Row = Struct.new(:id, :slot_index, :slot_offset, :cycle_offset, :cycle_index, :next_run_time, :run_key,
                   keyword_init: true)

  # One slot of one cycle: the half-open span from start to end; and which rows belong to
  # it, a {Predicate}, if a column was named.
  Slot = Struct.new(:slot_index, :cycle_index, :start_time, :end_time, :predicate, keyword_init: true)

  # An estimate of how full slots or seconds get.
  ExpectedLoad = Struct.new(:mean, :fullest_median, :fullest_p99, keyword_init: true)

  # What a schedule is.
  Description = Struct.new(:fingerprint, :canonical_text, :slot_count, :slot_duration, :slot, :cycle_start_time,
                           :bucket_share, :slot_load, :second_load, keyword_init: true)

  # How evenly slots share the buckets of :twister.
  BucketShare = Struct.new(:min_bucket_count, :max_bucket_count, :imbalance, keyword_init: true)

  # Where one kind of job stands, seen from a slot: `user_slot_index` is where it runs
  # for users whose kind 0 runs at the slot, `time_slot_index` whose users it handles
  # while the slot runs; `offset` (seconds) is what to shift its schedule by.
  KindSlot = Struct.new(:kind_index, :offset_slot_count, :offset, :user_slot_index, :time_slot_index,
                        :gap_slot_count, :run_budget, keyword_init: true)

  # Where kinds of job stand that must not meet on the same user; spans in seconds.
  Reciprocals = Struct.new(:kinds, :gap_slot_count, :gap, :run_budget, :independent_run_budget, keyword_init: true)

  # Assignments of a batch: rows, and the columns they come from.
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
      @resolution, @run_key_prefix, @fingerprint = 1, "", ""
    end

    def size
      slot_indexes.size
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
      Row.new(id: ids[index], slot_index: slot_indexes[index],
              slot_offset: Times.whole(slot_offset_ticks[index] * @resolution.to_r),
              cycle_offset: Times.whole(cycle_offset_ticks[index] * @resolution.to_r),
              cycle_index: cycle_indexes[index], next_run_time: Times.from_unix_millis(next_run_unix_millis[index]),
              run_key: run_key(index))
    end

    # Equal for two attempts to enqueue a row's next run; empty for a fraction, which is no identity.
    def run_key(index)
      check(index)
      return "" if ids[index].is_a?(Float)

      "#{@run_key_prefix}/#{cycle_indexes[index]}/0/#{@encoder.canonical(ids[index])}"
    end

    # Appends the answer of one message.
    def add(batch, columns)
      first = first_id_index + size
      @ids.concat(batch)
      @slot_indexes.concat(columns.slot_indexes.to_a)
      @slot_offset_ticks.concat(columns.slot_offset_ticks.to_a)
      @cycle_offset_ticks.concat(columns.cycle_offset_ticks.to_a)
      @cycle_indexes.concat(columns.cycle_indexes.to_a)
      @next_run_unix_millis.concat(columns.next_run_unix_millis.to_a)
      @resolution = Times.from_duration(columns.resolution)
      @run_key_prefix = columns.run_key_prefix
      columns.errors.each do |error|
        index = first + error.id_index
        @errors << IdError.new(id_index: index, reason: error.reason.to_s, field: "ids[#{index}]",
                               value: error.value, allowed: error.allowed)
      end
      self
    end

    private

    def check(index)
      slot = slot_indexes.fetch(index)
      raise KeyError, "ids[#{first_id_index + index}] was refused: see errors" if slot.negative?
    end
  end
end
