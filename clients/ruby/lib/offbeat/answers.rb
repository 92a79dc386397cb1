# frozen_string_literal: true

require "digest"
require "time"

module Offbeat
  # One run of one kind of job of an ID (of a piece of it), the same in all answers.
  #
  # `run_key` is equal for two attempts to enqueue the run; `run_id` is made of it ({Offbeat.run_id}). Both are
  # empty for a fraction, which is no identity.
  #
  # `nominal_time` is when the run would start without exclusions and without a new ID's policy; nil where that is
  # its scheduled time, and in answers about many IDs, which do not tell deferred runs from others.
  # `scheduled_time` is when it should start: lateness is measured from it. `start_time` is when to start it: later
  # than that for a missed run.
  #
  # {#to_h} and {.from_h} carry a run through the arguments of a job: with ActiveJob, Sidekiq and JSON.
  Run = Value.define(:id, :kind, :piece_index, :cycle_index, :run_key, :run_id, :nominal_time, :scheduled_time,
                     :start_time) do
    # @param id_kind_piece what the message does not say
    def self.of(message, id_kind_piece)
      start_time = Times.from_timestamp(message.start_time)
      new(**id_kind_piece, cycle_index: message.cycle_index, run_key: message.run_key, run_id: message.run_id,
                           nominal_time: Times.from_optional_timestamp(message.nominal_time),
                           scheduled_time: start_time, start_time: start_time)
    end

    # The run of a Hash that {#to_h} has made, also after a way through JSON.
    def self.from_h(hash)
      new(**members.to_h do |name|
        value = hash.fetch(name.to_s)
        [name, name.end_with?("_time") && value ? Time.iso8601(value) : value]
      end)
    end

    # The run as a Hash of Strings and numbers, which every queue takes as an argument: keys are Strings, times are
    # texts in ISO 8601 to the nanosecond.
    def to_h
      members.to_h do |name|
        value = self[name]
        [name.to_s, value.is_a?(Time) ? value.getutc.iso8601(9) : value]
      end
    end

    # Whether it was missed, and so starts later than it should have.
    def late?
      start_time > scheduled_time
    end
  end

  # The ID of a run by its key: the first half of its SHA-256, as 32 hexadecimal digits. Every queue takes it as the
  # ID of a job, and a column of UUIDs holds it. Empty where the key is.
  def self.run_id(run_key)
    run_key.empty? ? "" : Digest::SHA256.hexdigest(run_key)[0, 32]
  end

  # A piece of a weighted ID, which runs as if it were an ID. Offsets are in seconds. `last_run` is nil if exclusions
  # skip the 1,000 cycles before; `first_run` is that of a new ID.
  Piece = Value.define(:piece_index, :slot_index, :slot_offset, :cycle_offset, :last_run, :next_runs, :first_run) do
    def self.of(message, id, kind)
      run = ->(one) { one && Run.of(one, { id: id, kind: kind, piece_index: message.piece_index }) }
      new(piece_index: message.piece_index, slot_index: message.slot_index,
          slot_offset: Times.from_duration(message.slot_offset),
          cycle_offset: Times.from_duration(message.cycle_offset), last_run: run.call(message.last_run),
          next_runs: message.next_runs.map(&run), first_run: run.call(message.first_run))
    end
  end

  # Why an ID stands where it does: its canonical text, and by the `rule` of the placement (:hash, :bucket or
  # :fraction) the `value` that decided: the hash as 16 hexadecimal digits, the bucket, or the fraction.
  PlacementExplanation = Value.define(:canonical_id, :rule, :value) do
    def self.of(message)
      new(canonical_id: message.canonical_id, rule: message.rule, value: message[message.rule.to_s])
    end
  end

  # The place of an ID, and its runs. `pieces` are all {Piece}s of the ID: one without a weight. Enqueue the runs
  # of each. The methods {#slot_index}, {#next_run} and so on are those of the first piece. `decided_by` is :local or
  # :sidecar; the answers are equal.
  Assignment = Value.define(:id, :pieces, :explanation, :fingerprint, :time_zone_database, :decided_by) do
    def self.of(id, kind, message, decided_by = :sidecar)
      new(id: id, pieces: message.pieces.map { |piece| Piece.of(piece, id, kind) },
          explanation: PlacementExplanation.of(message.explanation), fingerprint: message.identity.fingerprint,
          time_zone_database: Fields.name_or_nil(message.identity.time_zone_database), decided_by: decided_by)
    end

    def slot_index
      pieces.first.slot_index
    end

    # From the start of the slot to the run, in seconds.
    def slot_offset
      pieces.first.slot_offset
    end

    # From the start of the cycle to the run, in seconds.
    def cycle_offset
      pieces.first.cycle_offset
    end

    # The last {Run}; nil if exclusions skip the 1,000 cycles before.
    def last_run
      pieces.first.last_run
    end

    # The next {Run}s, as many as were asked for.
    def next_runs
      pieces.first.next_runs
    end

    # The first of the next runs. Raises an IndexError if there is none.
    def next_run
      next_runs.first or raise IndexError, "there is no next run: none was asked for, or exclusions skip them all"
    end

    # The first {Run} of a new ID; nil of others.
    def first_run
      pieces.first.first_run
    end
  end

  # An ID that is new to the schedule: the answer tells its first run.
  #
  #   Offbeat::NewId.new(create_time: Time.now, policy: :now_smeared, smear_span: 600)
  NewId = Value.define(:create_time, :policy, :smear_span, :max_clock_skew) do
    # @param create_time when it came
    # @param policy when it runs first, if its time in the cycle has passed: :next_cycle (the default) or
    #   :now_smeared, within `smear_span` seconds of create_time
    # @param smear_span with :now_smeared only. Refused where the schedule declares kinds: its catch_up_span decides
    # @param max_clock_skew how far create_time may lie after from_time, in seconds: a machine's clock may be fast.
    #   Default: 60, or the shortest cycle if that is shorter
    def initialize(create_time:, policy: nil, smear_span: nil, max_clock_skew: nil)
      super
    end

    # The new ID as its message; the path names it in refusals.
    def to_message(path)
      message = V1::NewId.new(create_time: Times.to_timestamp("#{path}.create_time", create_time))
      message.policy = Offbeat.named("#{path}.policy", policy, NewId::POLICIES) if policy
      Fields.set_spans(message, self, path, %w[smear_span max_clock_skew])
      message
    end
  end
  NewId::POLICIES = { next_cycle: :FIRST_RUN_POLICY_NEXT_CYCLE, now_smeared: :FIRST_RUN_POLICY_NOW_SMEARED }.freeze

  # One slot of one cycle: the half-open span from start to end; and which rows belong to
  # it, a {Predicate}, if a column was named.
  Slot = Struct.new(:slot_index, :cycle_index, :start_time, :end_time, :predicate, keyword_init: true) do
    def self.of(message)
      new(slot_index: message.slot_index, cycle_index: message.cycle_index,
          start_time: Times.from_timestamp(message.start_time), end_time: Times.from_timestamp(message.end_time))
    end
  end

  # An estimate of how full slots or seconds get.
  ExpectedLoad = Struct.new(:mean, :fullest_median, :fullest_p99, keyword_init: true) do
    def self.of(message)
      new(mean: message.mean, fullest_median: message.fullest_median, fullest_p99: message.fullest_p99)
    end
  end

  # A schedule of the file that the sidecar has loaded: its {ScheduleReference}, its fingerprint, its slot count, how
  # long a cycle is in seconds (nil of calendars), and the release of the time-zone database, nil without calendar.
  ListedSchedule = Value.define(:reference, :fingerprint, :slot_count, :period, :time_zone_database) do
    def self.of(message)
      new(reference: ScheduleReference.new(message.reference.name, message.reference.version),
          fingerprint: message.identity.fingerprint, slot_count: message.spec.slot_count,
          period: Times.from_optional(message.spec.period),
          time_zone_database: Fields.name_or_nil(message.identity.time_zone_database))
    end
  end

  # Description of a schedule, and its cycle at the requested time. Spans are in seconds; `run_key_root` is
  # what run keys begin with; `slot` is nil outside of the active windows, `active_duration` what they leave
  # of the cycle; exclusions skip and defer so large a share of its runs (0 to 1). `kinds` are the
  # {DescribedKind}s that it declares, `max_cycle_duration` is the length of a cycle by the wall clock (of months
  # that of the longest), `time_zone_database` the release that times were calculated with; nil without time zones.
  # `decided_by` is :local or :sidecar.
  Description = Struct.new(:fingerprint, :canonical_text, :slot_count, :slot_duration, :slot, :cycle_start_time,
                           :bucket_share, :slot_load, :second_load, :run_key_root, :cycle_end_time,
                           :active_duration, :skipped_ratio, :deferred_ratio, :kinds,
                           :max_cycle_duration, :time_zone_database, :decided_by, keyword_init: true) do
    def self.of(message, decided_by = :sidecar)
      load = ->(estimate) { estimate && ExpectedLoad.of(estimate) }
      share = message.bucket_share
      new(fingerprint: message.identity.fingerprint, canonical_text: message.canonical_text,
          slot_count: message.spec.slot_count, slot_duration: Times.from_duration(message.slot_duration),
          slot: message.slot && Slot.of(message.slot),
          cycle_start_time: Times.from_timestamp(message.cycle_start_time),
          bucket_share: share && BucketShare.new(**share.to_h),
          slot_load: load.call(message.slot_load), second_load: load.call(message.second_load),
          run_key_root: message.identity.run_key_root,
          cycle_end_time: Times.from_timestamp(message.cycle_end_time),
          active_duration: Times.from_duration(message.active_duration),
          skipped_ratio: message.skipped_ratio, deferred_ratio: message.deferred_ratio,
          kinds: message.kinds.map { |kind| DescribedKind.of(kind) },
          max_cycle_duration: Times.from_duration(message.max_cycle_duration),
          time_zone_database: Fields.name_or_nil(message.identity.time_zone_database), decided_by: decided_by)
    end
  end

  # The offset of a kind of a schedule, and its run budget; spans in seconds. `offset` is from the
  # run of kind 0 to that of this kind, in active time. `run_budget` is the shortest time to the next run of a
  # kind that it must not meet: what a job waits and runs must stay within it. Where a change of the clocks or
  # a month shortens that, `worst_cycle_start_time` says which; nil where none does. `run_time` is how long a
  # run takes at most, nil if the schedule does not say.
  DescribedKind = Value.define(:name, :offset_slot_count, :offset, :gap_slot_count, :run_budget,
                               :worst_cycle_start_time, :run_time) do
    def self.of(message)
      new(name: message.name, offset_slot_count: message.offset_slot_count,
          offset: Times.from_duration(message.offset), gap_slot_count: message.gap_slot_count,
          run_budget: Times.from_duration(message.run_budget),
          worst_cycle_start_time: Times.from_optional_timestamp(message.worst_cycle_start_time),
          run_time: Times.from_optional(message.run_time))
    end
  end

  # How evenly slots share the buckets of :twister. `fullest_to_mean_ratio` is the buckets in the largest slot
  # divided by the mean: 1.02 is 2 % more.
  BucketShare = Struct.new(:min_bucket_count, :max_bucket_count, :fullest_to_mean_ratio, keyword_init: true)

  # The offset of one kind of job from a slot: `id_slot_index` is the slot in which it runs for IDs whose kind 0
  # runs in that slot; while that slot runs, it handles the IDs whose kind 0 runs in `clock_slot_index`. `offset`
  # (seconds) is from the run of kind 0 to that of this kind, for the same ID.
  KindSlot = Struct.new(:kind_index, :offset_slot_count, :offset, :id_slot_index, :clock_slot_index,
                        :gap_slot_count, :run_budget, keyword_init: true) do
    def self.of(message)
      new(kind_index: message.kind_index, offset_slot_count: message.offset_slot_count,
          offset: Times.from_duration(message.offset), id_slot_index: message.id_slot_index,
          clock_slot_index: message.clock_slot_index, gap_slot_count: message.gap_slot_count,
          run_budget: Times.from_duration(message.run_budget))
    end
  end

  # Offsets of kinds of job that must not meet on the same ID; spans in seconds.
  Reciprocals = Struct.new(:kinds, :gap_slot_count, :gap, :run_budget, :independent_run_budget, keyword_init: true) do
    def self.of(message)
      new(kinds: message.kinds.map { |kind| KindSlot.of(kind) }, gap_slot_count: message.gap_slot_count,
          gap: Times.from_duration(message.gap), run_budget: Times.from_duration(message.run_budget),
          independent_run_budget: Times.from_duration(message.independent_run_budget))
    end
  end
end
