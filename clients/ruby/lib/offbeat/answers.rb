# frozen_string_literal: true

require "digest"
require "time"

module Offbeat
  # One run of an ID (or of a piece of it) for one kind of job. All answers have runs of this class.
  #
  # `run_key` identifies the run: it is the same for every attempt to enqueue it. `run_id` is derived from it
  # ({Offbeat.run_id}). Both are empty for a fraction, which identifies no row.
  #
  # `nominal_time` is when the run would start without exclusions and without the policy for new IDs. It is nil if that
  # is its scheduled time, and in answers about many IDs, which do not distinguish deferred runs from others.
  # `scheduled_time` is when the run should start: lateness is measured from it. `start_time` is when to start it; for a
  # missed run, that is later.
  #
  # {#to_h} and {.from_h} carry a run in the arguments of a job, with ActiveJob, Sidekiq and JSON.
  Run = Value.define(:id, :kind, :piece_index, :cycle_index, :run_key, :run_id, :nominal_time, :scheduled_time,
                     :start_time) do
    # @param id_kind_piece the ID, kind and piece, which the message does not have
    def self.of(message, id_kind_piece)
      start_time = Times.from_timestamp(message.start_time)
      new(**id_kind_piece, cycle_index: message.cycle_index, run_key: message.run_key, run_id: message.run_id,
                           nominal_time: Times.from_optional_timestamp(message.nominal_time),
                           scheduled_time: start_time, start_time: start_time)
    end

    # The run from a Hash that {#to_h} made, also after conversion to JSON and back.
    def self.from_h(hash)
      new(**members.to_h do |name|
        value = hash.fetch(name.to_s)
        [name, name.end_with?("_time") && value ? Time.iso8601(value) : value]
      end)
    end

    # The run as a Hash of Strings and numbers, which every queue takes as an argument. Keys are Strings; times are
    # texts in ISO 8601, to the nanosecond.
    def to_h
      members.to_h do |name|
        value = self[name]
        [name.to_s, value.is_a?(Time) ? value.getutc.iso8601(9) : value]
      end
    end

    # Whether the run was missed, and so starts later than it should have.
    def late?
      start_time > scheduled_time
    end
  end

  # The ID of a run, from its key: the first half of the key's SHA-256, as 32 hexadecimal digits. Every queue takes it
  # as the ID of a job, and it fits into a column of UUIDs. Empty if the key is.
  def self.run_id(run_key)
    run_key.empty? ? "" : Digest::SHA256.hexdigest(run_key)[0, 32]
  end

  # A piece of a weighted ID, which runs like an ID. Offsets are in seconds. `last_run` is nil if exclusions skip the
  # previous 1,000 cycles; `first_run` is that of a new ID.
  Piece = Value.define(:piece_index, :slot_index, :slot_offset, :cycle_offset, :last_run, :next_runs, :first_run) do
    def self.of(message, id, kind)
      run = ->(one) { one && Run.of(one, { id: id, kind: kind, piece_index: message.piece_index }) }
      new(piece_index: message.piece_index, slot_index: message.slot_index,
          slot_offset: Times.from_duration(message.slot_offset),
          cycle_offset: Times.from_duration(message.cycle_offset), last_run: run.call(message.last_run),
          next_runs: message.next_runs.map(&run), first_run: run.call(message.first_run))
    end
  end

  # Why an ID has its place: its canonical text, the `rule` of the placement (:hash, :bucket or :fraction), and the
  # `value` that decided: the hash as 16 hexadecimal digits, the bucket, or the fraction.
  PlacementExplanation = Value.define(:canonical_id, :rule, :value) do
    def self.of(message)
      new(canonical_id: message.canonical_id, rule: message.rule, value: message[message.rule.to_s])
    end
  end

  # The place of an ID, and its runs. `pieces` are all {Piece}s of the ID: exactly one without a weight. Enqueue the
  # runs of each piece. The methods {#slot_index}, {#next_run} and so on are those of the first piece. `decided_by` is
  # :local or :sidecar; both give the same answer.
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

    # The last {Run}; nil if exclusions skip the previous 1,000 cycles.
    def last_run
      pieces.first.last_run
    end

    # The next {Run}s, at most as many as were requested.
    def next_runs
      pieces.first.next_runs
    end

    # The first of the next runs. Raises an IndexError if there is none.
    def next_run
      next_runs.first or raise IndexError, "there is no next run: none was asked for, or exclusions skip them all"
    end

    # The first {Run} of a new ID; nil for other IDs.
    def first_run
      pieces.first.first_run
    end
  end

  # An ID that is new to the schedule: the answer then has its first run.
  #
  #   Offbeat::NewId.new(create_time: Time.now, policy: :now_smeared, smear_span: 600)
  NewId = Value.define(:create_time, :policy, :smear_span, :max_clock_skew) do
    # @param create_time when the ID was created
    # @param policy when it runs first if its time in the cycle has passed: :next_cycle (the default) or :now_smeared,
    #   within `smear_span` seconds of create_time
    # @param smear_span must be set with :now_smeared, and only then. Refused if the schedule declares kinds: its
    #   catch_up_span decides
    # @param max_clock_skew how far create_time may lie after from_time, in seconds: a machine's clock may be fast.
    #   Default: 60, or the shortest cycle if that is shorter
    def initialize(create_time:, policy: nil, smear_span: nil, max_clock_skew: nil)
      super
    end

    # The new ID as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      message = V1::NewId.new(create_time: Times.to_timestamp("#{path}.create_time", create_time))
      message.policy = Offbeat.named("#{path}.policy", policy, NewId::POLICIES) if policy
      Fields.set_spans(message, self, path, %w[smear_span max_clock_skew])
      message
    end
  end
  NewId::POLICIES = { next_cycle: :FIRST_RUN_POLICY_NEXT_CYCLE, now_smeared: :FIRST_RUN_POLICY_NOW_SMEARED }.freeze

  # One slot of one cycle: the half-open span from `start_time` to `end_time`. `predicate` selects its rows; nil unless
  # the call had a {SqlTarget}.
  Slot = Struct.new(:slot_index, :cycle_index, :start_time, :end_time, :predicate, keyword_init: true) do
    def self.of(message)
      new(slot_index: message.slot_index, cycle_index: message.cycle_index,
          start_time: Times.from_timestamp(message.start_time), end_time: Times.from_timestamp(message.end_time))
    end
  end

  # An estimate of the IDs in a slot or a second: the mean, and the median and the 99th percentile of the fullest one.
  ExpectedLoad = Struct.new(:mean, :fullest_median, :fullest_p99, keyword_init: true) do
    def self.of(message)
      new(mean: message.mean, fullest_median: message.fullest_median, fullest_p99: message.fullest_p99)
    end
  end

  # A schedule from the file that the sidecar has loaded: its {ScheduleReference}, its fingerprint, its slot count, the
  # length of a cycle in seconds (nil with a calendar), and the release of the time-zone database (nil without
  # calendars).
  ListedSchedule = Value.define(:reference, :fingerprint, :slot_count, :period, :time_zone_database) do
    def self.of(message)
      new(reference: ScheduleReference.new(message.reference.name, message.reference.version),
          fingerprint: message.identity.fingerprint, slot_count: message.spec.slot_count,
          period: Times.from_optional(message.spec.period),
          time_zone_database: Fields.name_or_nil(message.identity.time_zone_database))
    end
  end

  # The description of a schedule, and of its cycle at the requested time. Spans are in seconds. `run_key_root` is the
  # beginning of the run keys. `slot` is nil outside of the active windows, and `active_duration` is the time that these
  # leave of the cycle. `skipped_ratio` and `deferred_ratio` are the shares of its runs that exclusions skip and defer,
  # 0 to 1. `kinds` are the {DescribedKind}s that the schedule declares. `max_cycle_duration` is the length of a cycle
  # by the wall clock (of months, that of the longest). `time_zone_database` is the release that times were calculated
  # with; nil without time zones. `decided_by` is :local or :sidecar.
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

  # The offset of a kind of a schedule, and its run budget. Spans are in seconds. `offset` is from the run of kind 0 to
  # that of this kind, in active time. `run_budget` is the shortest time to the next run of a kind that it must not
  # meet: a job must wait and run within it. If a change of the clocks or a short month makes it shorter than the gap,
  # `worst_cycle_start_time` is the start of that cycle; otherwise it is nil. `run_time` is how long a run takes at
  # most; nil if the schedule does not say.
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

  # The slots of one kind of job, seen from the requested slot. `id_slot_index` is the slot in which the kind runs for
  # IDs whose kind 0 runs in the requested slot. While the requested slot runs, the kind handles the IDs whose kind 0
  # runs in `clock_slot_index`. `offset`, in seconds, is from the run of kind 0 to that of this kind, for the same ID.
  KindSlot = Struct.new(:kind_index, :offset_slot_count, :offset, :id_slot_index, :clock_slot_index,
                        :gap_slot_count, :run_budget, keyword_init: true) do
    def self.of(message)
      new(kind_index: message.kind_index, offset_slot_count: message.offset_slot_count,
          offset: Times.from_duration(message.offset), id_slot_index: message.id_slot_index,
          clock_slot_index: message.clock_slot_index, gap_slot_count: message.gap_slot_count,
          run_budget: Times.from_duration(message.run_budget))
    end
  end

  # Offsets of kinds of job that must not meet on the same ID. Spans are in seconds.
  Reciprocals = Struct.new(:kinds, :gap_slot_count, :gap, :run_budget, :independent_run_budget, keyword_init: true) do
    def self.of(message)
      new(kinds: message.kinds.map { |kind| KindSlot.of(kind) }, gap_slot_count: message.gap_slot_count,
          gap: Times.from_duration(message.gap), run_budget: Times.from_duration(message.run_budget),
          independent_run_budget: Times.from_duration(message.independent_run_budget))
    end
  end
end
