# frozen_string_literal: true

require_relative "helper"
require "digest"
require "tzinfo"

# Calendar cycles, against this machine's time zone database.
class CalendarsTest < OffbeatTest
  ZONES = %w[Europe/Berlin America/New_York Australia/Lord_Howe America/Santiago].freeze
  NEW_YEAR = Time.utc(2026)

  def days(zone, **options)
    Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :day, time_zone: zone), **options)
  end

  def weeks(zone, **options)
    Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :week, time_zone: zone), **options)
  end

  # The instant of a wall-clock time: the first of two; a skipped time moves forward by the gap.
  def instant(zone, date, seconds)
    wall = [date.year, date.month, date.day, seconds / 3600, seconds / 60 % 60, seconds % 60]
    zone.local_time(*wall) { |periods| periods.min_by { |period| -period.observed_utc_offset } }.to_i
  rescue TZInfo::PeriodNotFound
    before = zone.period_for(Time.utc(*wall) - 86_400)
    Time.utc(*wall).to_i - before.observed_utc_offset
  end

  def test_a_daily_run_keeps_its_wall_clock_time
    ZONES.each do |name|
      zone = TZInfo::Timezone.get(name)
      %w[acme bolt cyan dune].each do |id|
        runs = client.assign_slot(days(name), id, from_time: NEW_YEAR, next_run_count: 1_000).next_runs
        seconds = Digest::MD5.digest(id).unpack1("Q>") * 86_400 >> 64
        first = zone.to_local(runs.first.start_time).to_date
        expected = Array.new(1_000) { |day| instant(zone, first + day, seconds) }
        assert_equal expected, runs.map { |run| run.start_time.to_i }, "#{name} #{id}"
        assert_equal [1], runs.each_cons(2).map { |one, next_one| next_one.cycle_index - one.cycle_index }.uniq
      end
    end
  end

  # In the hours that a change of the clocks skips or repeats.
  def test_times_that_are_skipped_or_come_twice
    zone = TZInfo::Timezone.get("Europe/Berlin")
    schedule = days("Europe/Berlin", placement: :fraction, slot_count: 24)
    [9_000, 8_999, 7_200, 10_799, 10_800].each do |seconds| # 02:30 and its neighbours
      runs = client.assign_slot(schedule, (seconds + 0.5) / 86_400, from_time: NEW_YEAR, next_run_count: 365).next_runs
      assert_equal Array.new(365) { |day| instant(zone, Date.new(2026) + day, seconds) }, runs.map { |run| run.start_time.to_i }
    end
  end

  def test_a_run_in_every_month
    zone = TZInfo::Timezone.get("Europe/Berlin")
    months = Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :month, time_zone: zone))
    %w[acme bolt cyan dune].each do |id|
      runs = client.assign_slot(months, id, from_time: NEW_YEAR, next_run_count: 60).next_runs
      named = runs.map { |run| zone.to_local(run.start_time).strftime("%Y-%m") }
      assert_equal 60, named.uniq.size
      assert_equal named, named.sort
    end
    march = client.describe_schedule(months, at_time: NOON)
    assert_equal [instant(zone, Date.new(2026, 3), 0), instant(zone, Date.new(2026, 4), 0)],
                 [march.cycle_start_time, march.cycle_end_time].map(&:to_i)
  end

  def test_active_windows_hold_every_run
    nights = Array.new(5) { |day| ((day * 86_400) + 3_600)...((day * 86_400) + 18_000) } # Monday to Friday, 01:00 to 05:00
    schedule = weeks("America/New_York", active_windows: nights, slot_count: 20)
    zone = TZInfo::Timezone.get("America/New_York")
    rows = client.assign_slots(schedule, Array.new(2_000) { |number| "customer #{number}" }, from_time: NOON)
    rows.each do |row|
      local = zone.to_local(row.next_run_time)
      assert local.wday.between?(1, 5) && local.hour.between?(1, 4), local.to_s
    end
    assert_operator rows.slot_indexes.tally.values.max, :<, 150
    night = client.describe_schedule(schedule, at_time: Time.utc(2026, 3, 3, 7)) # Tuesday, 02:00
    assert_equal [20 * 3_600, 3_600, 5], [night.active_duration, night.slot_duration, night.slot.slot_index]
    assert_nil client.describe_schedule(schedule, at_time: NOON).slot
  end

  def evening(policy)
    cycle = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin")
    Offbeat::Exclusion.new(calendar: cycle, window: 79_200...82_800, policy: policy)
  end

  def test_excluded_runs_are_deferred
    zone = TZInfo::Timezone.get("Europe/Berlin")
    ids = Array.new(400) { |number| "customer #{number}" }
    plain = client.assign_slots(days("Europe/Berlin"), ids, from_time: NEW_YEAR)
    schedule = days("Europe/Berlin", exclusions: [evening(nil)])
    rows = client.assign_slots(schedule, ids, from_time: NEW_YEAR)
    deferred, others = rows.zip(plain).partition { |_, before| zone.to_local(before.next_run_time).hour == 22 }
    others.each { |row, before| assert_equal before.next_run_time, row.next_run_time }
    assert_operator deferred.size, :>, 5
    deferred.each do |row, _|
      refute_equal 22, zone.to_local(row.next_run_time).hour
      run = client.assign_slot(schedule, row.id, from_time: NEW_YEAR).next_run
      assert_equal [row.next_run_time, row.run_key], [run.start_time, run.run_key]
      # The run is deferred, and may belong to the day before.
      before = client.assign_slot(days("Europe/Berlin"), row.id, from_time: NEW_YEAR)
      regular = [before.last_run, before.next_run].find { |one| one.cycle_index == run.cycle_index }
      assert_equal regular.start_time, run.nominal_time
      assert_operator run.start_time, :>, run.nominal_time
    end
    described = client.describe_schedule(schedule, at_time: NOON)
    assert_in_delta 1 / 24.0, described.deferred_ratio, 1e-6
    assert_equal [0.0, 86_400], [described.skipped_ratio, described.active_duration]
  end

  def test_excluded_runs_are_skipped
    ids = Array.new(400) { |number| "customer #{number}" }
    schedule = days("Europe/Berlin", exclusions: [evening(:skip)])
    error = assert_raises(Offbeat::BadIds) { client.assign_slots(schedule, ids, from_time: NEW_YEAR) }
    assert_equal ["ERROR_REASON_NO_RUN"], error.errors.map(&:reason).uniq
    assert_operator error.errors.size, :>, 5
    never = client.assign_slot(schedule, ids[error.errors.first.id_index], from_time: NEW_YEAR)
    assert_equal [nil, []], [never.last_run, never.next_runs]
    assert_match(/exclusions/, assert_raises(IndexError) { never.next_run }.message)
    planned = assert_raises(Offbeat::BadIds) { client.plan_migration(schedule, days("Europe/Berlin"), ids: ids, cutover_time: NOON) }
    assert_equal [error.errors.map(&:id_index), ["ERROR_REASON_NO_RUN"]],
                 [planned.errors.map(&:id_index), planned.errors.map(&:reason).uniq]
    plan = client.plan_migration(schedule, days("Europe/Berlin"), ids: ids, cutover_time: NOON, return_errors: true)
    assert_nil plan.max_gap_bound
    warning = client.audit_ids(schedule, ids).warnings.first
    assert_equal :never_run, warning.finding
    assert_match(/\A#{error.errors.size} of 400 IDs/, warning.message)
    holidays = Offbeat::Exclusion.new(times: Time.utc(2026, 12, 24)...Time.utc(2026, 12, 27), policy: :skip)
    runs = client.assign_slot(days("UTC", exclusions: [holidays]), "acme", from_time: Time.utc(2026, 12, 22), next_run_count: 4).next_runs
    assert_equal [22, 23, 27, 28], runs.map { |run| run.start_time.day }
    years = days("UTC", exclusions: [Offbeat::Exclusion.new(times: NEW_YEAR...Time.utc(2029), policy: :skip)])
    assert_equal [[:never_run], []],
                 [NEW_YEAR, Time.utc(2028)].map { |from| client.audit_ids(years, %w[a b], from_time: from).warnings.map(&:finding) }
  end

  def test_due_runs_over_a_change_of_the_clocks
    schedule = days("Europe/Berlin")
    ids = Array.new(100) { |number| "customer #{number}" }
    from, till = Time.utc(2026, 3, 28), Time.utc(2026, 3, 31)
    expected = ids.flat_map { |id| client.assign_slot(schedule, id, from_time: from, next_run_count: 4).next_runs }
    keys = []
    watermark = from
    while (watermark += 1_800) <= till
      due = client.list_due_runs(schedule, ids, watermark: watermark - 1_800, now_time: watermark,
                                                 catch_up_policy: Offbeat::CatchUpPolicy.new(on_time_tolerance: 3_600))
      keys.concat(due.map(&:run_key))
    end
    assert_equal expected.select { |run| run.start_time < till }.map(&:run_key).sort, keys.sort
  end

  def test_unknown_zones_are_refused
    error = assert_raises(Offbeat::InvalidArgument) { client.assign_slot(days("Europe/Atlantis"), "acme") }
    assert_equal %w[ERROR_REASON_UNKNOWN_TIME_ZONE schedule.spec.calendar.time_zone], [error.reason, error.field]
  end
end
