# frozen_string_literal: true

require_relative "value"

module Offbeat
  # A cycle of the calendar: a day, a week or a month by the wall clock of a time zone.
  #
  #   Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin")
  #
  # A run keeps its wall-clock time when the clocks change. A time that the change skips moves later by the length of
  # the skip; of a time that occurs twice, the first one counts. Offsets in a month scale with its length.
  CalendarCycle = Value.define(:unit, :time_zone) do
    # @param unit :day, :week (from Monday) or :month
    # @param time_zone an IANA name, or a zone of TZInfo or ActiveSupport. The time-zone database of the sidecar is used
    def initialize(unit:, time_zone:)
      super
    end

    # The cycle as its message; the path names it in refusals.
    def to_message(path)
      message = V1::CalendarCycle.new(unit: Offbeat.named("#{path}.unit", unit, CalendarCycle::UNITS))
      Offbeat.set_field(message, "time_zone", Fields.time_zone(time_zone), "#{path}.time_zone")
      message
    end
  end
  CalendarCycle::UNITS = { day: :CALENDAR_UNIT_DAY, week: :CALENDAR_UNIT_WEEK, month: :CALENDAR_UNIT_MONTH }.freeze

  # Times at which nothing may start: once, or repeatedly by a calendar, which need not be that of the schedule.
  #
  #   Offbeat::Exclusion.new(times: Time.utc(2026, 12, 24)...Time.utc(2026, 12, 27), policy: :skip)
  #   Offbeat::Exclusion.new(calendar: berlin_days, window: 22 * 3600...23 * 3600)
  #
  # IDs whose time is outside of an exclusion do not move.
  Exclusion = Value.define(:times, :calendar, :window, :policy) do
    # @param times two instants as a half-open Range (...)
    # @param calendar instead of times: a {CalendarCycle}. `window` is excluded in each of its units
    # @param window with calendar: seconds by the wall clock from the start of the unit, as a half-open Range
    # @param policy what happens to the runs: :defer (the default: they start later, before the ID's next run, spread
    #   over the time that remains) or :skip
    def initialize(times: nil, calendar: nil, window: nil, policy: nil)
      super
    end

    # The exclusion as its message; the path names it in refusals.
    def to_message(path)
      if times && (calendar || window)
        raise Offbeat.refused(path, to_h, "must have times, or calendar and window, not both",
                              reason: "ERROR_REASON_CONTRADICTORY")
      end

      message = V1::Exclusion.new
      message.dated = dated(path) if times
      message.recurring = recurring("#{path}.recurring") if calendar || window
      message.policy = Offbeat.named("#{path}.policy", policy, Exclusion::POLICIES) if policy
      message
    end

    private

    def dated(path)
      start, finish = Times.half_open("#{path}.times", times)
      message = V1::DatedExclusion.new
      message.start_time = Times.to_timestamp("#{path}.dated.start_time", start) if start
      message.end_time = Times.to_timestamp("#{path}.dated.end_time", finish) if finish
      message
    end

    def recurring(path)
      message = V1::RecurringExclusion.new
      message.calendar = Fields.message(calendar, CalendarCycle, "#{path}.calendar") if calendar
      message.window = Fields.window(window, "#{path}.window") if window
      message
    end
  end
  Exclusion::POLICIES = { skip: :EXCLUSION_POLICY_SKIP, defer: :EXCLUSION_POLICY_DEFER }.freeze
end
