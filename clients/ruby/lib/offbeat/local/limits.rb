# frozen_string_literal: true

require_relative "refusal"

module Offbeat
  module Local
    # A range from the table of limits (server/core/src/limits.rs), both ends included, with its unit.
    class Limit
      attr_reader :range

      def initialize(range, unit = "")
        @range, @unit = range, unit
      end

      def allows?(value)
        range.cover?(value)
      end

      # The value. Refuses a value that is not within the limit.
      def check(field, value, shown = value)
        return value if allows?(value)

        raise Refusal.new(:OUT_OF_RANGE, field, shown, "must be #{self}")
      end

      # In words: "1 to 1000 kinds".
      def to_s
        "#{range.begin} to #{range.end} #{@unit}".rstrip
      end

      # Checks a name that is part of a run key.
      def check_part(field, name)
        return name if allows?(name.bytesize) && name.match?(/\A[A-Za-z0-9._-]*\z/)

        raise Refusal.new(:OUT_OF_RANGE, field, Refusal.quoted(name), "must be #{self}")
      end
    end

    PART = "characters (A-Z, a-z, 0-9, '.', '_' or '-')"
    private_constant :PART

    PERIOD_MILLIS = Limit.new(1..3_660 * 86_400_000, "ms")
    RESOLUTION = Limit.new(1..1_000, "ms")
    SLOT_COUNT = Limit.new(1..1 << 20, "slots")
    SALT = Limit.new(0..256, "bytes of UTF-8")
    SCHEDULE_NAME = Limit.new(1..64, PART)
    SCHEDULE_VERSION = Limit.new(1..1_000_000)
    NAMED_SCHEDULES = Limit.new(1..1_000, "schedules")
    REMEMBERED_SCHEDULES = Limit.new(0..10_000, "schedules")
    TEXT_ID = Limit.new(0..1_024, "bytes of UTF-8")
    KIND_NAME = Limit.new(1..64, PART)
    KIND_COUNT = Limit.new(1..1_000, "kinds")
    CATCH_UP_TURNS = Limit.new(2..65_536, "turns")
    BATCH_IDS = Limit.new(1..65_536, "IDs")
    DETAILED_ERRORS = 1_000
    NEXT_RUNS = Limit.new(0..1_000, "runs")
    LISTED_SLOTS = Limit.new(0..4_096, "slots")
    MASK_PATHS = Limit.new(0..16, "paths")
    SQL_NAME = Limit.new(1..256, "bytes of UTF-8")
    FIRST_PARAMETER_NUMBER = Limit.new(1..65_000)
    PREDICATE_BYTES = Limit.new(0..3 << 20, "bytes")
    HORIZON_MILLIS = 3_660 * 86_400_000
    DUE_RUNS = Limit.new(1..65_536, "runs")
    DUE_PAGED_RUNS = Limit.new(0..16_777_216, "runs")
    DUE_CYCLES = Limit.new(0..16_777_216, "cycles and spans")
    MEMBER_NAME = Limit.new(1..128, "bytes of UTF-8")
    LANE_COUNT = Limit.new(2..16, "lanes")
    LANE_WORKERS = Limit.new(0..1_000_000, "workers")
    LANE_TIMEOUT_MILLIS = Limit.new(1..366 * 86_400_000, "ms")
  end
end
