# frozen_string_literal: true

require_relative "helper"
require "active_support"
require "active_support/core_ext/time/zones"
require "digest"
require "sqlite3"

# IDs with time zones of their own: each runs at 07:00 local time.
class TimeZonesTest < OffbeatTest
  NAMES = ["Asia/Tokyo", nil, "America/New_York", "Pacific/Auckland"].freeze
  IDS = Array.new(200) { |number| "customer #{number}" }.freeze
  ZONES = IDS.each_index.map { |row| NAMES[row % 4] }.freeze

  def days(zone = "Europe/Berlin", **options)
    Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :day, time_zone: zone), slot_count: 24, **options)
  end

  def assert_refused(field, reason = nil, &ask)
    error = assert_raises(Offbeat::InvalidArgument, field, &ask)
    assert_equal field, error.field
    assert_equal "ERROR_REASON_#{reason}", error.reason if reason
    error
  end

  # The next runs by a schedule in each zone, in seconds since the Unix epoch.
  def at_home(time)
    runs = NAMES.to_h { |zone| [zone, client.assign_slots(days(zone || "Europe/Berlin"), IDS, from_time: time).map(&:next_run_time)] }
    IDS.each_index.map { |row| runs[ZONES[row]][row] }
  end

  def test_each_id_runs_by_the_clock_of_its_home
    rows = client.assign_slots(days, IDS, from_time: NOON, time_zones: ZONES.each)
    assert_equal at_home(NOON), rows.map(&:next_run_time)
    assert_equal client.describe_schedule(days).fingerprint, rows.fingerprint
    # A run key does not name the zone.
    assert_equal ["#{rows.fingerprint}/default"], rows.map { |row| row.run_key.split("/").first(2).join("/") }.uniq
    assert_equal rows.slot_indexes, client.assign_slots(days, IDS, from_time: NOON).slot_indexes
    rows.first(8).each do |row|
      one = client.assign_slot(days, row.id, from_time: NOON, time_zone: ZONES[IDS.index(row.id)])
      assert_equal [one.next_run, one.slot_index], [row.next_run, row.slot_index]
    end
    streamed = client.stream_slot_assignments(days, IDS, from_time: NOON, time_zones: ZONES).first
    assert_equal rows.to_a, streamed.to_a
  end

  def test_zones_of_tzinfo_and_active_support
    tokyo, *same = ["Asia/Tokyo", TZInfo::Timezone.get("Asia/Tokyo"), ActiveSupport::TimeZone["Tokyo"]].map do |zone|
      [client.assign_slot(days, "acme", from_time: NOON, time_zone: zone).next_run,
       client.assign_slots(days, ["acme"], from_time: NOON, time_zones: [zone]).first.next_run]
    end
    assert_equal [tokyo, tokyo], same
    assert_equal 1, tokyo.uniq.size
  end

  # Each zone name is sent once, with an index per ID.
  def test_zones_go_as_a_dictionary
    seen = []
    asked = Offbeat::Client.new(Sidecar::SHARED.address)
    asked.define_singleton_method(:ask) { |method, request, *more, **options| seen << request and super(method, request, *more, **options) }
    asked.assign_slots(days, %w[a b c d], time_zones: ["Asia/Tokyo", nil, "UTC", "Asia/Tokyo"])
    asked.assign_slots(days, %w[a b], time_zones: [nil, nil])
    assert_equal [[%w[Asia/Tokyo UTC], [0, -1, 1, 0]], [[], []]], seen.map { |one| [one.ids.time_zones.to_a, one.ids.time_zone_indexes.to_a] }
  end

  def test_any_number_of_ids
    ids = Array.new(70_000) { |number| number }
    rows = client.assign_slots(days, ids, from_time: NOON, time_zones: ids.lazy.map { |number| NAMES[number % 3] })
    [0, 65_534, 65_535, 65_536, 69_999].each do |id|
      assert_equal client.assign_slot(days, id, from_time: NOON, time_zone: NAMES[id % 3]).next_run, rows[id].next_run
    end
    bytes = ids.pack("q<*")
    packed = client.assign_packed(days, integers: bytes, from_time: NOON, time_zones: [NAMES[0], TZInfo::Timezone.get(NAMES[2])],
                                        time_zone_indexes: ids.map { |id| [0, -1, 1][id % 3] }.pack("l<*"))
    assert_equal rows.next_run_unix_millis, packed.next_run_unix_millis
  end

  def test_weighted_ids
    weighted = days(weight_quantum: 10)
    rows = client.assign_slots(weighted, %w[a b], weights: [35, 5], time_zones: ["Asia/Tokyo", nil], from_time: NOON)
    pieces = client.assign_slot(weighted, "a", weight: 35, time_zone: "Asia/Tokyo", from_time: NOON).pieces
    assert_equal pieces.map { |piece| piece.next_runs[0] }, rows.first(4).map(&:next_run)
    assert_equal client.assign_slot(weighted, "b", from_time: NOON).next_run, rows[4].next_run
  end

  def test_due_runs
    due = client.list_due_runs(days, IDS, watermark: NOON, now_time: NOON + 3_600, catch_up_policy: Offbeat::CatchUpPolicy.new(missed_run_policy: :run_all),
                                                         time_zones: ZONES)
    expected = IDS.zip(at_home(NOON)).select { |_, time| time < NOON + 3_600 }
    assert_equal expected, due.map { |run| [run.id, run.scheduled_time] }
    assert_operator due.size, :>, 3
    watermarks = IDS.each_index.map { |row| NOON + row }
    own = client.list_due_runs(days, IDS, watermarks: watermarks, now_time: NOON + 3_600, catch_up_policy: Offbeat::CatchUpPolicy.new(missed_run_policy: :run_all),
                                                         time_zones: ZONES)
    assert_equal due.reject { |run| run.scheduled_time < watermarks[IDS.index(run.id)] }.map(&:run_key), own.map(&:run_key)
  end

  def test_answers_name_the_database_of_zones
    asks = lambda do |schedule|
      [client.describe_schedule(schedule), client.assign_slot(schedule, 1), client.assign_slots(schedule, [1]), client.assign_slots(schedule, []),
       client.assign_packed(schedule, integers: [1].pack("q<")), client.list_due_runs(schedule, [1], watermark: NOON, now_time: NOON)]
    end
    releases = asks.call(days).map(&:time_zone_database)
    assert_equal 1, releases.uniq.size
    assert_match(/\A20\d\d[a-z]\z/, releases.first)
    assert_equal [nil], asks.call(EIGHT_HOURS).map(&:time_zone_database).uniq
  end

  def test_windows_of_rows_in_several_zones
    column = Offbeat::SqlTarget.new(dialect: :sqlite, table: "customers", column: "hash", column_type: :hash_digits, time_zone_column: "zone",
                                    parameter_style: :question_mark)
    base = SQLite3::Database.new(":memory:")
    base.execute("CREATE TABLE customers (hash TEXT, zone TEXT)")
    zones = ["Asia/Tokyo", "Europe/Berlin", "America/New_York"]
    homes = IDS.each_index.map { |row| [*zones, "Mars/Olympus", nil][row % 5] }
    IDS.zip(homes) { |id, zone| base.execute("INSERT INTO customers VALUES (?, ?)", [Digest::MD5.hexdigest(id), zone]) }
    times = client.assign_slots(days, IDS, from_time: NOON, time_zones: homes.map { |zone| zone unless zone == "Mars/Olympus" }).map(&:next_run_time)
    [600, 7_200].each do |length|
      window = client.window_predicate(days, column, start_time: NOON, end_time: NOON + length, time_zones: zones)
      window.index.create_statements.each { |statement| base.execute(statement) } if length == 600
      rows = base.execute("SELECT rowid - 1 FROM customers WHERE #{window.sql}", window.parameters).flatten.sort
      assert_equal IDS.each_index.select { |row| zones.include?(homes[row]) && times[row] < NOON + length }, rows
    end
    plain = Offbeat::SqlTarget.new(dialect: :sqlite, table: "customers", column: "hash", column_type: :hash_digits)
    ask = ->(by, **options) { client.window_predicate(days, by, start_time: NOON, end_time: NOON + 60, **options) }
    assert_refused("sql_target.time_zone_column", "FIELD_MISSING") { ask.call(plain, time_zones: zones) }
    assert_refused("time_zones") { ask.call(column, time_zones: "Asia/Tokyo") }
    assert_refused("time_zones[1]") { ask.call(column, time_zones: ["Asia/Tokyo", 5]) }
    assert_refused("time_zones[1]", "CONTRADICTORY") { ask.call(column, time_zones: ["Asia/Tokyo", "Asia/Tokyo"]) }
  end

  def test_zones_that_cannot_be_are_refused
    ask = ->(zones, schedule: days) { client.assign_slots(schedule, %w[a b], from_time: NOON, time_zones: zones) }
    { [["UTC"]] => "time_zones", [["UTC"] * 3] => "time_zones", [["UTC", 5]] => "time_zones[1]", ["UTC"] => "time_zones" }.each do |(zones), field|
      assert_refused(field) { ask.call(zones) }
    end
    unknown = assert_raises(Offbeat::InvalidArgument) { ask.call(["UTC", "Europe/Atlantis"]) }
    assert_equal "ERROR_REASON_UNKNOWN_TIME_ZONE", unknown.reason
    assert_includes unknown.value, "Europe/Atlantis"
    assert_raises(Offbeat::InvalidArgument) { ask.call(%w[UTC UTC], schedule: EIGHT_HOURS) }
    assert_refused("time_zone") { client.assign_slot(days, "a", time_zone: 5) }
    assert_refused("time_zone", "UNKNOWN_TIME_ZONE") { client.assign_slot(days, "a", time_zone: "Europe/Atlantis") }
    assert_refused("time_zone") { client.assign_slot(EIGHT_HOURS, "a", time_zone: "UTC") }
    integers = [1, 2].pack("q<*")
    [{ time_zones: ["UTC"] }, { time_zone_indexes: "\0" * 4, time_zones: ["UTC"] }, { time_zone_indexes: [0, 0], time_zones: ["UTC"] }].each do |given|
      assert_refused("time_zone_indexes") { client.assign_packed(days, integers: integers, **given) }
    end
    assert_refused("time_zones") { client.assign_packed(days, integers: integers, time_zone_indexes: "\0" * 8) }
  end
end
