# frozen_string_literal: true

require_relative "helper"
require "active_support"
require "active_support/duration"
require "active_support/core_ext/numeric/time"
require "active_support/core_ext/time/zones"

# Schedules as Ruby objects: by name, by the calendar, with windows, exclusions and weights.
class SchedulesTest < OffbeatTest
  DAYS = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin")
  CHRISTMAS = Time.utc(2026, 12, 24)...Time.utc(2026, 12, 27)

  # The message for a schedule, in canonical JSON.
  def sent(schedule)
    JSON.parse(Offbeat::V1::Schedule.encode_json(schedule.to_message))
  end

  def assert_refused(field, &ask)
    error = assert_raises(Offbeat::InvalidArgument, &ask)
    assert_equal field, error.field
    refute_empty error.allowed
    error
  end

  def test_what_is_loaded_is_listed
    listed = client.list_schedules
    assert_equal %w[accounts/1 bank-sync/1 bank-sync/2], listed.map { |one| one.reference.to_s }
    assert_equal [28_800, 96], listed.last.to_h.values_at(:period, :slot_count)
    listed.each { |one| assert_equal client.describe_schedule(one.reference).fingerprint, one.fingerprint }
    assert_equal listed.drop(1), client.list_schedules(name: "bank-sync")
    assert_empty client.list_schedules(name: "none")
    assert_refused("name") { client.list_schedules(name: "a/b") }
  end

  def test_everything_is_sent
    schedule = Offbeat::Schedule.new(
      calendar: Offbeat::CalendarCycle.new(unit: :week, time_zone: "Australia/Lord_Howe"), slot_count: 20,
      placement: :fraction, resolution: 1/4r, weight_quantum: 500, active_windows: [...3_600.5, 90_000...100_000],
      exclusions: [Offbeat::Exclusion.new(times: CHRISTMAS, policy: :skip),
                   Offbeat::Exclusion.new(calendar: DAYS, window: 79_200...82_800, policy: :defer)]
    )
    expected = {
      "spec" => {
        "calendar" => { "unit" => "CALENDAR_UNIT_WEEK", "timeZone" => "Australia/Lord_Howe" },
        "slotCount" => 20, "placement" => "PLACEMENT_FRACTION", "resolution" => "0.250s", "weightQuantum" => "500",
        "activeWindows" => [{ "endOffset" => "3600.500s" }, { "startOffset" => "90000s", "endOffset" => "100000s" }],
        "exclusions" => [
          { "dated" => { "startTime" => "2026-12-24T00:00:00Z", "endTime" => "2026-12-27T00:00:00Z" },
            "policy" => "EXCLUSION_POLICY_SKIP" },
          { "recurring" => { "calendar" => { "unit" => "CALENDAR_UNIT_DAY", "timeZone" => "Europe/Berlin" },
                             "window" => { "startOffset" => "79200s", "endOffset" => "82800s" } },
            "policy" => "EXCLUSION_POLICY_DEFER" }
        ]
      }
    }
    assert_equal expected, sent(schedule)
    timed = %w[import export].zip([600, 1/4r]).map { |name, time| Offbeat::Kind.new(name: name, run_time: time) }
    kinds = { kinds: timed.each, kind_spacing: :stable, kind_conflicts: [%w[import export]], catch_up_span: 3_600 }
    expected = {
      "kinds" => [{ "name" => "import", "runTime" => "600s" }, { "name" => "export", "runTime" => "0.250s" }],
      "kindSpacing" => "KIND_SPACING_STABLE", "catchUpSpan" => "3600s",
      "kindConflicts" => [{ "firstKind" => "import", "secondKind" => "export" }]
    }
    assert_equal expected, sent(Offbeat::Schedule.new(**kinds))["spec"]
    assert_equal({ "kinds" => [{ "name" => "import" }], "kindSpacing" => "KIND_SPACING_EVEN" },
                 sent(Offbeat::Schedule.new(kinds: ["import"], kind_spacing: :even))["spec"])
    assert_equal({ "reference" => { "name" => "bank-sync", "version" => 3 } },
                 sent(Offbeat::ScheduleReference.new(name: "bank-sync", version: 3)))
  end

  def test_spans_and_zones_of_active_support
    windows = [1.hour...5.hours]
    assert_equal [{ "startOffset" => "3600s", "endOffset" => "18000s" }],
                 sent(Offbeat::Schedule.new(period: 1.day, active_windows: windows))["spec"]["activeWindows"]
    ["Europe/Berlin", ActiveSupport::TimeZone["Berlin"], TZInfo::Timezone.get("Europe/Berlin")].each do |zone|
      days = Offbeat::CalendarCycle.new(unit: :month, time_zone: zone)
      assert_equal "Europe/Berlin", days.to_message("calendar").time_zone
    end
  end

  def test_values_never_change
    windows = [0...3_600]
    schedule = Offbeat::Schedule.new(period: 86_400, active_windows: windows)
    windows << (7_200...10_800)
    assert_equal [0...3_600], schedule.active_windows
    assert_equal schedule, Offbeat::Schedule.new(period: 86_400, active_windows: [0...3_600])
    [schedule, DAYS, Offbeat::ScheduleReference.new(name: "a", version: 1), Offbeat::Kind.new(name: "a")].each do |value|
      assert_predicate value, :frozen?
    end
  end

  def test_what_cannot_be_is_refused
    day = { period: 86_400 }
    {
      "schedule.spec.cycle" => Offbeat::Schedule.new(**day, calendar: DAYS),
      "schedule.spec.calendar" => Offbeat::Schedule.new(calendar: :day),
      "schedule.spec.calendar.unit" => Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :year, time_zone: "UTC")),
      "schedule.spec.calendar.time_zone" => Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :day, time_zone: 1)),
      # An inclusive end would mean another second.
      "schedule.spec.active_windows[1]" => Offbeat::Schedule.new(**day, active_windows: [0...1, 2..3]),
      "schedule.spec.active_windows[0].start_offset" => Offbeat::Schedule.new(**day, active_windows: ["01:00"..."05:00"]),
      "schedule.spec.active_windows" => Offbeat::Schedule.new(**day, active_windows: 5),
      "schedule.spec.exclusions[0]" => Offbeat::Schedule.new(**day, exclusions: [CHRISTMAS]),
      "schedule.spec.exclusions[0].policy" =>
        Offbeat::Schedule.new(**day, exclusions: [Offbeat::Exclusion.new(times: CHRISTMAS, policy: :never)]),
      "schedule.spec.exclusions[0].times" =>
        Offbeat::Schedule.new(**day, exclusions: [Offbeat::Exclusion.new(times: CHRISTMAS.begin..CHRISTMAS.end)]),
      "schedule.spec.weight_quantum" => Offbeat::Schedule.new(**day, weight_quantum: 1.5),
      "schedule.spec.kinds" => Offbeat::Schedule.new(**day, kinds: "import"),
      "schedule.spec.kinds[1]" => Offbeat::Schedule.new(**day, kinds: ["import", :export]),
      "schedule.spec.kinds[0].name" => Offbeat::Schedule.new(**day, kinds: [Offbeat::Kind.new(name: 1)]),
      "schedule.spec.kinds[0].run_time" => Offbeat::Schedule.new(**day, kinds: [Offbeat::Kind.new(name: "a", run_time: "1m")]),
      "schedule.spec.kind_spacing" => Offbeat::Schedule.new(**day, kinds: ["a"], kind_spacing: :odd),
      "schedule.spec.kind_conflicts[1]" => Offbeat::Schedule.new(**day, kinds: %w[a b], kind_conflicts: [%w[a b], "a"]),
      "schedule.spec.kind_conflicts[0].second_kind" => Offbeat::Schedule.new(**day, kinds: %w[a b], kind_conflicts: [["a", 1]]),
      "schedule.spec.catch_up_span" => Offbeat::Schedule.new(**day, kinds: ["a"], catch_up_span: "1h"),
      "schedule.reference.version" => Offbeat::ScheduleReference.new(name: "a", version: "1"),
      "schedule" => { period: 86_400 }
    }.each do |field, schedule|
      assert_refused(field) { client.describe_schedule(schedule) }
    end
    assert_equal "ERROR_REASON_CONTRADICTORY", assert_refused("schedule.spec.exclusions[0]") {
      both = Offbeat::Exclusion.new(times: CHRISTMAS, calendar: DAYS, window: 0...60)
      client.describe_schedule(Offbeat::Schedule.new(**day, exclusions: [both]))
    }.reason
    assert_refused("schedule.spec.period") { client.describe_schedule(Offbeat::Schedule.new) }
  end

  # The schedule in test/schedules.toml.
  BANK_SYNC = Offbeat::ScheduleReference.new(name: "bank-sync", version: 1)
  SPEC = Offbeat::Schedule.new(period: 28_800, slot_count: 96)

  def test_a_name_means_what_the_file_says
    described = client.describe_schedule(BANK_SYNC)
    assert_equal client.describe_schedule(SPEC).fingerprint, described.fingerprint
    assert_equal "bank-sync/1", described.run_key_root
    run = client.assign_slot(BANK_SYNC, "acme", from_time: NOON, kind: "poll").next_run
    assert_equal client.assign_slot(SPEC, "acme", from_time: NOON).next_run.start_time, run.start_time
    assert_equal "bank-sync/1/poll/#{run.cycle_index}/0/acme", run.run_key
    rows = client.assign_slots(BANK_SYNC, ["acme"], from_time: NOON, kind: "poll")
    assert_equal [run.run_key, described.fingerprint], [rows.run_key(0), rows.fingerprint]
  end

  def test_a_name_goes_wherever_a_schedule_does
    column = Offbeat::SqlTarget.new(dialect: :sqlite, table: "t", column: "h", column_type: :hash_digits)
    by_spec, *by_name = [SPEC, BANK_SYNC, "bank-sync/1"].map do |schedule|
      [client.list_slots(schedule, start_time: NOON, end_time: NOON + 3_600),
       client.window_predicate(schedule, column, start_time: NOON, end_time: NOON + 60),
       client.stream_slot_assignments(schedule, ["acme"], from_time: NOON).first.slot_indexes,
       client.reciprocal_slots(schedule, kind_count: 2), client.compare_schedules([schedule, SPEC]),
       client.list_due_runs(schedule, %w[acme bolt], watermark: NOON - 28_800, now_time: NOON).scheduled_unix_millis,
       client.audit_ids(schedule, %w[acme bolt]).slot_loads,
       client.plan_migration(schedule, SPEC, cutover_time: NOON), client.plan_migration(SPEC, schedule, cutover_time: NOON)]
    end
    assert_equal [by_spec, by_spec], by_name
  end

  def test_a_reference_takes_name_and_version_or_keywords
    same = [Offbeat::ScheduleReference.new("bank-sync", 1), Offbeat::ScheduleReference.new("bank-sync", version: 1),
            Offbeat::ScheduleReference.new(version: 1, name: "bank-sync"), Offbeat::ScheduleReference.parse("bank-sync/1")]
    assert_equal [BANK_SYNC], same.uniq
    assert_equal "bank-sync/1", BANK_SYNC.to_s
    assert(same.all?(&:frozen?))
    assert_equal "bank-sync/1", client.describe_schedule(same.first).run_key_root
    [["bank-sync"], [], [nil, 1]].each { |given| assert_raises(ArgumentError) { Offbeat::ScheduleReference.new(*given) } }
    assert_raises(ArgumentError) { Offbeat::ScheduleReference.new(name: "bank-sync") }
    assert_nil Offbeat::ScheduleReference.parse("bank-sync")
  end

  def test_text_that_names_no_schedule_is_refused
    ["bank-sync", "bank-sync/", "/1", "bank-sync/0", "bank-sync/1.0", "bank-sync/-1", "bank sync/1", "a/b/1", "é/1", "bank-sync/1\n",
     "", "\xff/1", "bank-sync/1".encode("UTF-16LE")].each do |text|
      error = assert_refused("schedule") { client.assign_slot(text, "acme") }
      assert_includes error.allowed, '"bank-sync/3"', text.inspect
    end
    assert_refused("schedule.reference.version") { client.assign_slot("bank-sync/#{2**64}", "acme") }
    assert_refused("new_schedule") { client.plan_migration("bank-sync/1", "bank-sync/v2") }
    assert_raises(Offbeat::NotFound) { client.assign_slot("bank-sync/3", "acme") }
  end

  def test_weights_of_a_named_schedule
    ids = Array.new(900) { |number| "customer #{number}" } # 86,400 pieces: two messages
    rows = client.assign_slots(Offbeat::ScheduleReference.new(name: "bank-sync", version: 2), ids, weights: [10_000] * 900)
    assert_equal [86_400, [*0...96]], [rows.size, rows.slot_indexes.first(96).sort]
    assert_equal "bank-sync/2/default/#{rows.cycle_indexes[-1]}/95/customer 899", rows.run_key(86_399)
  end

  def test_an_unknown_name_is_not_found
    [["bank-sync", 3], ["mail", 1]].each do |name, version|
      error = assert_raises(Offbeat::NotFound) { client.assign_slot(Offbeat::ScheduleReference.new(name: name, version: version), "acme") }
      assert_equal "ERROR_REASON_UNKNOWN_SCHEDULE", error.reason
    end
  end
end
