# frozen_string_literal: true

require "digest/sha2"
require_relative "kinds"
require_relative "spec_checks"

module Offbeat
  module Local
    # A checked schedule of elapsed periods, with every default filled in. Times are in milliseconds or, where a name
    # says so, in ticks. Immutable.
    class Schedule
      NEEDS = {
        "active_windows" => "active windows need a sidecar: clients decide whole periods alone",
        "exclusions" => "exclusions need a sidecar: clients decide whole periods alone",
        "kind_conflicts" => "kind conflicts need a sidecar: clients decide kinds of which no two may meet"
      }.freeze
      private_constant :NEEDS

      attr_reader :placement, :tick, :period_ticks, :anchor, :kinds, :fingerprint, :canonical_text, :run_key_root,
                  :slot_count

      # Why a spec cannot be decided without a sidecar; nil if it can.
      def self.needs_sidecar(spec)
        return "a calendar cycle needs a sidecar: clients decide elapsed periods alone" if spec.cycle == :calendar
        return "weights need a sidecar: clients decide IDs of one piece" if spec.has_weight_quantum?

        repeated = NEEDS.keys.find { |name| !spec[name].empty? }
        return NEEDS.fetch(repeated) if repeated

        profile = profile_name(spec) || "RUBY"
        return if spec.placement != :PLACEMENT_TWISTER || spec.profile.is_a?(Integer) || profile == Placement::NATIVE_PROFILE

        "the profile #{profile} needs a sidecar: this Ruby decides #{Placement::NATIVE_PROFILE} alone"
      end

      # The name of the profile that a spec sets; nil if it sets none.
      def self.profile_name(spec)
        return if spec.profile == :TWISTER_PROFILE_UNSPECIFIED

        spec.profile.to_s.delete_prefix("TWISTER_PROFILE_")
      end

      # @param spec a ScheduleSpec that needs no sidecar: see {needs_sidecar}
      # @param name its name and version, such as "bank-sync/1", if it has one
      def initialize(spec, name = nil)
        spans, placement_name, spacing = read(spec)
        @tick = SpecChecks.tick_millis(spans[:resolution])
        @period_ticks = SpecChecks.period_ticks(spans[:period], tick)
        @anchor = SpecChecks.anchor_millis(spans[:anchor_time], tick)
        placement = SpecChecks.placement(spec, placement_name, Schedule.profile_name(spec))
        @slot_count = SpecChecks.slot_count(spec, period_ticks, tick, placement)
        @placement = placement.on(slot_count, period_ticks)
        @kinds = Kinds.of(spec, self, spacing, spans)
        @canonical_text = text.freeze
        @fingerprint = Digest::SHA256.hexdigest(canonical_text).freeze
        @run_key_root = (name || fingerprint).dup.freeze
        freeze
      end

      def period
        period_ticks * tick
      end

      def slot
        placement.slot_ticks * tick
      end

      # The schedule for one kind of job: for the kind that a request names or, if none are declared, for a label.
      def of_kind(name)
        KindSchedule.new(self, kinds&.find(name), name)
      end

      def cycle_of(millis)
        (millis - anchor).div(period)
      end

      def cycle_start(index)
        anchor + (index * period)
      end

      def identity
        V1::ScheduleIdentity.new(fingerprint: fingerprint, run_key_root: run_key_root)
      end

      # The spec with every default filled in.
      def resolved
        spec = V1::ScheduleSpec.new(period: Instants.duration(period), resolution: Instants.duration(tick),
                                    anchor_time: Instants.timestamp(anchor), slot_count: slot_count,
                                    placement: :"PLACEMENT_#{placement.name}",
                                    salt: placement.salt.dup.force_encoding("UTF-8"))
        if placement.bucket_count
          spec.bucket_count = placement.bucket_count
          spec.profile = :"TWISTER_PROFILE_#{placement.profile}"
        end
        kinds&.fill(spec)
        spec
      end

      private

      # Reads the fields that may be malformed by themselves, before they are checked against other fields.
      def read(spec)
        cycle = Refusal.required("period", spec.period, "must be 1 ms to 316224000 s (3660 days)")
        spans = { period: Instants.span("period", cycle), resolution: Instants.span("resolution", spec.resolution),
                  anchor_time: Instants.moment("anchor_time", spec.anchor_time) }
        placement = Refusal.known("placement", spec.placement, "0 to 3, a value of Placement", default: :PLACEMENT_HASH)
        Refusal.known("profile", spec.profile, "0 to 4, a value of TwisterProfile", default: :TWISTER_PROFILE_RUBY)
        spans[:run_times] = spec.kinds.each_with_index.map do |kind, index|
          Instants.span("kinds[#{index}].run_time", kind.run_time)
        end
        spacing = Refusal.known("kind_spacing", spec.kind_spacing, "0 to 2, a value of KindSpacing",
                                default: :KIND_SPACING_EVEN)
        spans[:catch_up_span] = Instants.span("catch_up_span", spec.catch_up_span)
        [spans, placement.to_s.delete_prefix("PLACEMENT_"), spacing.to_s.delete_prefix("KIND_SPACING_")]
      end

      # The text whose SHA-256 is the fingerprint: see DescribeScheduleResponse.canonical_text.
      def text
        lines = ["offbeat.v1.Schedule", "period=#{Instants.millis_text(period)}", "resolution=#{Instants.millis_text(tick)}",
                 "anchor_time=#{Instants.text_of_millis(anchor)}", "slot_count=#{slot_count}"]
        lines.concat(kinds.canonical_lines) if kinds
        lines << "placement=#{placement.name}"
        lines << "bucket_count=#{placement.bucket_count}" << "profile=#{placement.profile}" if placement.bucket_count
        lines.map!(&:b)
        lines << "salt=".b.concat(placement.salt) if placement.name == "HASH"
        lines.join("\n").force_encoding("UTF-8")
      end
    end

    # A schedule for one kind of job. If the schedule declares no kinds, the kind is only a label.
    class KindSchedule
      DEFAULT_LABEL = "default"
      private_constant :DEFAULT_LABEL

      attr_reader :schedule, :kind

      # @param label what a request calls the kind; empty for the default
      def initialize(schedule, kind, label)
        @schedule, @kind, @label = schedule, kind, label.empty? ? DEFAULT_LABEL : label
      end

      # The prefix of run keys. Refuses a label that run keys cannot contain.
      def run_key_prefix
        "#{schedule.run_key_root}/#{KIND_NAME.check_part("kind", @label)}"
      end

      # Slots from kind 0 to this kind.
      def rotation
        kind ? kind.offset : 0
      end

      def place(id)
        schedule.placement.place(id, rotation)
      end

      # The first run at or after an instant, for an offset in ticks from the start of the cycle: its cycle, and its
      # start.
      def next_run(cycle_offset, millis)
        cycle = first_cycle(cycle_offset, millis)
        [cycle, start(cycle_offset, cycle)]
      end

      def start(cycle_offset, cycle)
        schedule.cycle_start(cycle) + (cycle_offset * schedule.tick)
      end

      # The first cycle whose run is not before an instant.
      def first_cycle(cycle_offset, millis)
        -((schedule.anchor + (cycle_offset * schedule.tick) - millis).div(schedule.period))
      end

      # The instant in milliseconds, rounded up. Refuses it if it leaves some ID no room for the run before it and
      # `count` runs from it on.
      def check_from(moment, count)
        cycles = [count, 1].max
        earliest = (Instants::MIN / Instants::MILLI) + schedule.period
        latest = Instants.ceil_millis(Instants::MAX) - (cycles * schedule.period)
        millis = Instants.ceil_millis(moment)
        return millis if millis.between?(earliest, latest)

        fits = earliest <= latest && [earliest, latest].all? { |bound| Instants.millis_in_time?(bound) }
        allowed = "#{cycles} cycles of #{Instants.millis_text(schedule.period)} do not fit into the years 1 to 9999"
        if fits
          allowed = "must be #{Instants.text_of_millis(earliest)} to #{Instants.text_of_millis(latest)}, " \
                    "so that every run is in the years 1 to 9999"
        end
        raise Refusal.new(:OUT_OF_RANGE, "from_time", Instants.text(moment), allowed)
      end
    end
  end
end
