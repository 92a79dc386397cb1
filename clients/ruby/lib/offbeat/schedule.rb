# frozen_string_literal: true

require "google/protobuf"
require_relative "v1/slots_pb"
require_relative "calendar"
require_relative "times"
require_relative "value"

module Offbeat
  # A cycle that is cut into slots, and a placement of IDs in it. nil stands for the sidecar's default.
  #
  #   Offbeat::Schedule.new(period: 8 * 3600, slot_count: 96)
  #
  # The values are checked when the schedule is first used: an invalid schedule raises {InvalidArgument}.
  Schedule = Value.define(:period, :calendar, :slot_count, :placement, :salt, :profile, :bucket_count, :resolution,
                          :anchor_time, :active_windows, :exclusions, :weight_quantum, :kinds, :kind_spacing,
                          :kind_conflicts, :catch_up_span) do
    # @param period length of the cycle in seconds, 1 ms to 3,660 days of elapsed time
    #   (a day is 24 hours, also when the clocks change)
    # @param calendar instead of period: a {CalendarCycle}. Not for :twister
    # @param slot_count slots in a cycle; must divide the length of the cycle, or what active windows leave of it.
    #   Default: the greatest common divisor of that length in seconds and 256
    # @param placement :hash (the default), :twister or :fraction
    # @param salt :hash only: a namespace
    # @param profile :twister only: :ruby (the default), :ruby_3_0_to_3_1, :python or :php
    # @param bucket_count :twister only: 256 (the default) or 65,536
    # @param resolution length of a tick in seconds: 1 (the default) or a whole fraction, down to 1/1000r
    # @param anchor_time when cycle 0 starts; not with a calendar. Default: the Unix epoch
    # @param active_windows the parts of the cycle that may be used, in order, as half-open Ranges of seconds from its
    #   start (with a calendar: by the wall clock): [3600...5 * 3600]. Default: the whole cycle
    # @param exclusions {Exclusion}s: times at which nothing may start
    # @param weight_quantum the weight up to which an ID is one piece. Use an absolute number: the mean of today's IDs
    #   would change, and move all IDs. Default: no weights
    # @param kinds the kinds of job that must not meet on one ID, in order: names, or {Kind}s with a run time. Each kind
    #   has a place of its own, and every call about runs must name one. Default: none; `kind` is then a label that
    #   moves nothing
    # @param kind_spacing how the kinds are spread over the cycle: :even (the default), or :stable, with which another
    #   kind moves none of the existing ones
    # @param kind_conflicts which kinds must not meet, if others may, as pairs of names: [%w[import export]]. Default:
    #   no two kinds may meet
    # @param catch_up_span the seconds of a cycle over which late runs are spread, so that kinds keep apart when they
    #   are late. With kinds only. Default: an eighth of the cycle, or what the kinds need or allow
    def initialize(period: nil, calendar: nil, slot_count: nil, placement: nil, salt: "", profile: nil,
                   bucket_count: nil, resolution: nil, anchor_time: nil, active_windows: [], exclusions: [],
                   weight_quantum: nil, kinds: [], kind_spacing: nil, kind_conflicts: [], catch_up_span: nil)
      super
    end

    # The schedule as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path = "schedule")
      path = "#{path}.spec"
      spec = V1::ScheduleSpec.new(cycle(path))
      Fields.set_spans(spec, self, path, %w[resolution catch_up_span])
      spec.anchor_time = Times.to_timestamp("#{path}.anchor_time", anchor_time) if anchor_time
      Fields.set_all(spec, self, path, %w[slot_count bucket_count salt weight_quantum])
      spec.placement = Offbeat.named("#{path}.placement", placement, Schedule::PLACEMENTS) if placement
      spec.profile = Offbeat.named("#{path}.profile", profile, Schedule::PROFILES) if profile
      Fields.each_indexed(active_windows, "#{path}.active_windows") do |window, place|
        spec.active_windows << Fields.window(window, place)
      end
      Fields.add_messages(spec, "exclusions", exclusions, Exclusion, "#{path}.exclusions")
      add_kinds(spec, path)
      V1::Schedule.new(spec: spec)
    end

    private

    def add_kinds(spec, path)
      spec.kind_spacing = Offbeat.named("#{path}.kind_spacing", kind_spacing, Schedule::SPACINGS) if kind_spacing
      Fields.each_indexed(kinds, "#{path}.kinds") do |kind, place|
        kind = Kind.new(name: kind) if kind.is_a?(String)
        unless kind.is_a?(Kind)
          raise Offbeat.refused(place, kind, "must be the name of a kind, or an Offbeat::Kind")
        end

        spec.kinds << kind.to_message(place)
      end
      Fields.each_indexed(kind_conflicts, "#{path}.kind_conflicts") do |pair, place|
        spec.kind_conflicts << Fields.pair(V1::KindConflict, pair, place, %w[first_kind second_kind], %w[import export])
      end
    end

    # The period or the calendar. Refuses both together: a message would silently keep the last one.
    def cycle(path)
      if period && calendar
        raise Offbeat.refused("#{path}.cycle", [period, calendar], "must be period or calendar, not both",
                              reason: "ERROR_REASON_CONTRADICTORY")
      end
      return { calendar: Fields.message(calendar, CalendarCycle, "#{path}.calendar") } if calendar

      period.nil? ? {} : { period: Times.to_duration("#{path}.period", period) }
    end
  end
  Schedule::PLACEMENTS = { hash: :PLACEMENT_HASH, twister: :PLACEMENT_TWISTER, fraction: :PLACEMENT_FRACTION }.freeze
  Schedule::PROFILES = {
    ruby: :TWISTER_PROFILE_RUBY, ruby_3_0_to_3_1: :TWISTER_PROFILE_RUBY_3_0_TO_3_1,
    python: :TWISTER_PROFILE_PYTHON, php: :TWISTER_PROFILE_PHP
  }.freeze
  Schedule::SPACINGS = { even: :KIND_SPACING_EVEN, stable: :KIND_SPACING_STABLE }.freeze

  # A kind of job of a {Schedule}, with the time that its runs take at most.
  #
  #   Offbeat::Kind.new(name: "import", run_time: 600)
  Kind = Value.define(:name, :run_time) do
    # @param name 1 to 64 characters of A-Z a-z 0-9 . _ -, part of the run keys
    # @param run_time how long a run takes at most, in seconds: set for every kind of a schedule, or for none
    def initialize(name:, run_time: nil)
      super
    end

    # The kind as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path)
      message = V1::Kind.new
      Fields.set_all(message, self, path, %w[name])
      Fields.set_spans(message, self, path, %w[run_time])
      message
    end
  end

  # A schedule by name, from the file that the sidecar has loaded. Every method that takes a {Schedule} also takes a
  # reference, or the text of one, such as "bank-sync/3".
  #
  #   Offbeat::ScheduleReference.new("bank-sync", 3)
  #   Offbeat::ScheduleReference.new(name: "bank-sync", version: 3)
  #
  # A version never changes its meaning. A version that is not loaded raises {NotFound} when it is first used.
  ScheduleReference = Value.define(:name, :version) do
    # Parses a text such as "bank-sync/3"; nil for any other text.
    def self.parse(text)
      name, version = %r{\A([A-Za-z0-9._-]+)/([1-9][0-9]*)\z}.match(text)&.captures if text.ascii_only?
      new(name, Integer(version)) if name
    end

    # Takes name and version in this order, or as keywords. Both must be given.
    #
    # @param version from 1. The newest version is not the default: callers would change over at different times
    def initialize(schedule_name = nil, schedule_version = nil, name: schedule_name, version: schedule_version)
      missing = { name: name, version: version }.select { |_, value| value.nil? }.keys
      raise ArgumentError, "missing #{missing.join(" and ")}" if missing.any?

      super(name: name, version: version)
    end

    # The text of the reference, as in run keys: "bank-sync/3".
    def to_s
      "#{name}/#{version}"
    end

    # The name and version as a protobuf message; `path` prefixes the fields that errors name.
    def to_message(path = "schedule")
      reference = V1::ScheduleReference.new
      Fields.set_all(reference, self, "#{path}.reference", %w[name version])
      V1::Schedule.new(reference: reference)
    end
  end

  # The name of a symbol in messages. Any other value is refused as the sidecar would refuse it.
  def self.named(path, value, names)
    names.fetch(value) do
      raise refused(path, value, "must be one of #{names.keys.map(&:inspect).join(", ")}",
                    reason: "ERROR_REASON_OUT_OF_RANGE")
    end
  end

  # Sets a field of a message. A value that the field cannot hold is refused as the sidecar would refuse it.
  def self.set_field(message, name, value, path = name)
    message[name] = value unless value.nil?
  rescue RangeError, TypeError, Google::Protobuf::TypeError, EncodingError => e
    raise refused(path, value, "must be a value that the field can hold (#{e.message})",
                  reason: "ERROR_REASON_OUT_OF_RANGE")
  end
end
