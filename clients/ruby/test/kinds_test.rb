# frozen_string_literal: true

require_relative "helper"
require "digest"
require "sqlite3"

# Kinds of job that a schedule declares never meet on one ID.
class KindsTest < OffbeatTest
  KINDS = %w[import export report].freeze
  SCHEDULE = Offbeat::Schedule.new(period: 28_800, slot_count: 96, salt: "é", kinds: KINDS)
  IDS = Array.new(300) { |number| "customer #{number}" }.freeze
  COLUMN = Offbeat::SqlTarget.new(dialect: :sqlite, table: "customers", column: "hash", column_type: :hash_digits,
                                  parameter_style: :question_mark)

  def assert_refused(field, reason = nil, &ask)
    error = assert_raises(Offbeat::InvalidArgument, field, &ask)
    assert_equal field, error.field
    assert_equal "ERROR_REASON_#{reason}", error.reason if reason
    error
  end

  def timed(**run_times)
    run_times.map { |name, run_time| Offbeat::Kind.new(name: name.to_s, run_time: run_time) }
  end

  # A time in milliseconds since the Unix epoch.
  def millis(time)
    (time.to_r * 1_000).to_i
  end

  def test_each_kind_has_its_place
    places = KINDS.to_h { |kind| [kind, client.assign_slots(SCHEDULE, IDS, from_time: NOON, kind: kind).slot_indexes] }
    places["import"].zip(places["export"], places["report"]) do |import, export, report|
      assert_equal [(import + 32) % 96, (import + 64) % 96], [export, report]
    end
    one = client.assign_slot(SCHEDULE, IDS[7], from_time: NOON, kind: "report")
    assert_equal [places["report"][7], "report"], [one.slot_index, one.next_run.kind]
    packed = client.assign_packed(SCHEDULE, integers: [*0...300].pack("q<*"), from_time: NOON, kind: "export")
    assert_equal client.assign_slots(SCHEDULE, 0...300, from_time: NOON, kind: "export").slot_indexes, packed.slot_indexes
    streamed = client.stream_slot_assignments(SCHEDULE, IDS, from_time: NOON, kind: "export").first
    assert_equal places["export"], streamed.slot_indexes
  end

  def test_descriptions_name_the_kinds
    described = client.describe_schedule(SCHEDULE)
    assert_equal KINDS, described.kinds.map(&:name)
    assert_equal [[0, 0], [32, 9_600], [64, 19_200]], described.kinds.map { |kind| [kind.offset_slot_count, kind.offset] }
    assert_equal [[32, 9_600, nil, nil]] * 3,
                 described.kinds.map { |kind| [kind.gap_slot_count, kind.run_budget, kind.run_time, kind.worst_cycle_start_time] }
    assert_equal 28_800, described.max_cycle_duration
    by_time = client.describe_schedule(Offbeat::Schedule.new(period: 28_800, slot_count: 96, kinds: timed(a: 600, b: 1_800.5)))
    assert_equal [600, 1_800.5r], by_time.kinds.map(&:run_time)
    assert_equal 96, by_time.kinds.sum(&:gap_slot_count)
    by_time.kinds.each { |kind| assert_operator kind.run_budget, :>=, kind.run_time }
    assert_empty client.describe_schedule(EIGHT_HOURS).kinds
  end

  # On the day when the clocks go forward, an hour is missing between two kinds.
  def test_the_run_budget_is_that_of_the_worst_day
    berlin = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin")
    kinds = client.describe_schedule(Offbeat::Schedule.new(calendar: berlin, slot_count: 96, kinds: %w[a b])).kinds
    assert_equal [[43_200 - 3_600, 43_200]] * 2, kinds.map { |kind| [kind.run_budget, kind.gap_slot_count * 900] }
    kinds.each do |kind|
      day = kind.worst_cycle_start_time
      assert_equal [3, 7], [day.month, (day + 86_400).sunday? ? 7 : 0], day.to_s
    end
    months = Offbeat::CalendarCycle.new(unit: :month, time_zone: "UTC")
    assert_equal 31 * 86_400, client.describe_schedule(Offbeat::Schedule.new(calendar: months)).max_cycle_duration
  end

  def test_spacings_and_conflicts
    offsets = lambda do |**options|
      client.describe_schedule(Offbeat::Schedule.new(period: 28_800, slot_count: 96, **options)).kinds.map(&:offset_slot_count)
    end
    assert_equal [[0, 48], [0, 48, 24], [0, 48, 24, 72]],
                 [2, 3, 4].map { |count| offsets.call(kinds: %w[a b c d].first(count), kind_spacing: :stable) }
    assert_equal [0, 48, 0], offsets.call(kinds: %w[a b c], kind_conflicts: [%w[a b], %w[c b]])
    assert_equal [0, 32, 64], offsets.call(kinds: %w[a b c], kind_spacing: :even)
  end

  # The times at which turns of the catch-up clock place the late runs of an ID: u is the second
  # half of the hash.
  def places_in_turns(id, offset, turn, now)
    u = Digest::MD5.digest("é#{id}").unpack("Q>2").last
    place = ((u * turn >> 64) + (offset * turn / 96)) % turn
    first = now + ((place - now) % turn)
    first.step(by: turn)
  end

  # After an outage each kind is polled when its workers are back; late runs must still keep apart.
  def test_kinds_keep_apart_when_they_are_late
    turn = 3_600_000 # an eighth of the cycle
    lead = turn * 32 / 96 / 2
    polls = KINDS.zip([NOON, NOON + 137.5, NOON + 1_900]).to_h
    late = polls.to_h { |kind, now| [kind, client.list_due_runs(SCHEDULE, IDS, kind: kind, watermark: NOON - 28_800, now_time: now)] }
    starts = late.flat_map { |kind, due| due.select(&:late?).map { |run| [run.id, kind, millis(run.start_time)] } }.group_by(&:first)
    assert_operator starts.count { |_, runs| runs.size == 3 }, :>, 50
    starts.each_value { |runs| runs.map(&:last).combination(2) { |one, other| assert_operator (one - other).abs, :>=, turn * 32 / 96 - 1 } }

    regular = KINDS.to_h { |kind| [kind, client.assign_slots(SCHEDULE, IDS, from_time: NOON - 28_800, kind: kind).next_run_unix_millis] }
    starts.each do |id, runs|
      runs.each do |_, kind, start|
        others = (KINDS - [kind]).map { |other| regular[other][IDS.index(id)] }
        free = places_in_turns(id, KINDS.index(kind) * 32, turn, millis(polls[kind])).find do |place|
          others.all? { |time| [(time - place) % 28_800_000, (place - time) % 28_800_000].min >= lead }
        end
        assert_equal free, start, "#{id} #{kind}"
      end
    end
  end

  def test_new_ids_start_in_a_turn
    new_id = Offbeat::NewId.new(create_time: NOON + 20_000, policy: :now_smeared)
    smeared = 0
    IDS.first(40).each do |id|
      ask = ->(new) { client.assign_slot(SCHEDULE, id, from_time: NOON + 20_000, kind: "import", new_id: new) }
      run = ask.call(new_id).first_run
      next assert_equal ask.call(new_id).next_run, run unless run.nominal_time

      assert_includes places_in_turns(id, 0, 3_600_000, millis(NOON + 20_000)).first(3), millis(run.start_time)
      assert_equal [false, run.start_time], [run.late?, run.scheduled_time]
      smeared += 1
    end
    assert_operator smeared, :>, 5
    span = Offbeat::NewId.new(create_time: NOON, policy: :now_smeared, smear_span: 60)
    assert_refused("new_id.smear_span", "CONTRADICTORY") do
      client.assign_slot(SCHEDULE, "a", from_time: NOON, kind: "import", new_id: span)
    end
  end

  def database(index)
    base = SQLite3::Database.new(":memory:")
    base.execute("CREATE TABLE customers (hash TEXT)")
    IDS.each { |id| base.execute("INSERT INTO customers VALUES (?)", [Digest::MD5.hexdigest("é#{id}")]) }
    index.create_statements.each { |statement| base.execute(statement) }
    base
  end

  def selected(base, predicate)
    base.execute("SELECT rowid - 1 FROM customers WHERE #{predicate.sql}", predicate.parameters).flatten.sort
  end

  def test_predicates_select_the_rows_of_a_kind
    KINDS.each do |kind|
      rows = client.assign_slots(SCHEDULE, IDS, from_time: NOON, kind: kind)
      slots = client.list_slots(SCHEDULE, start_time: NOON, end_time: NOON + 28_800, sql_target: COLUMN, kind: kind)
      base = database(slots[0].predicate.index)
      expected = IDS.each_index.group_by { |row| rows.slot_indexes[row] }
      assert_equal expected, slots.to_h { |slot| [slot.slot_index, selected(base, slot.predicate)] }.reject { |_, some| some.empty? }
      [[NOON, 60], [NOON + 28_800 - 600, 1_200]].each do |start, length|
        window = client.window_predicate(SCHEDULE, COLUMN, start_time: start, end_time: start + length, kind: kind)
        runs = client.assign_slots(SCHEDULE, IDS, from_time: start, kind: kind).map(&:next_run_time)
        assert_equal runs.each_index.select { |row| runs[row] < start + length }, selected(base, window)
      end
    end
    assert_equal 96, client.list_slots(SCHEDULE, start_time: NOON).size # the kind matters only in predicates
  end

  # The schedule in test/schedules.toml.
  def test_kinds_of_a_named_schedule
    described = client.describe_schedule("accounts/1")
    spec = Offbeat::Schedule.new(period: 28_800, slot_count: 96, kinds: timed(import: 600, export: 300))
    assert_equal client.describe_schedule(spec).fingerprint, described.fingerprint
    assert_equal [["import", 600], ["export", 300]], described.kinds.map { |kind| [kind.name, kind.run_time] }
    run = client.assign_slot("accounts/1", "acme", from_time: NOON, kind: "export").next_run
    assert_equal ["accounts/1/export/#{run.cycle_index}/0/acme", "export"], [run.run_key, run.kind]
  end

  def test_kinds_go_over_to_another_schedule
    faster = Offbeat::Schedule.new(period: 14_400, slot_count: 96, salt: "é", kinds: KINDS)
    plan = client.plan_migration(SCHEDULE, faster, cutover_time: NOON, ids: IDS, kind: "export")
    plan.ids.each_with_index do |row, index|
      assert_equal client.assign_slot(SCHEDULE, row.id, from_time: NOON, kind: "export").last_run, row.last_old_run if index < 20
    end
    rows = client.assign_slots(faster, IDS, from_time: NOON, kind: "export")
    assert_equal rows.map(&:next_run), plan.ids.map(&:first_new_run)
  end

  def test_a_kind_must_be_one_of_those_declared
    window = { start_time: NOON, end_time: NOON + 60 }
    asks = [
      ->(**kind) { client.assign_slot(SCHEDULE, "a", **kind) }, ->(**kind) { client.assign_slots(SCHEDULE, ["a"], **kind) },
      ->(**kind) { client.assign_packed(SCHEDULE, uuids: "\0" * 16, **kind) },
      ->(**kind) { client.stream_slot_assignments(SCHEDULE, ["a"], **kind).first },
      ->(**kind) { client.list_due_runs(SCHEDULE, ["a"], watermark: NOON, now_time: NOON, **kind) },
      ->(**kind) { client.list_slots(SCHEDULE, sql_target: COLUMN, **window, **kind) },
      ->(**kind) { client.window_predicate(SCHEDULE, COLUMN, **window, **kind) },
      ->(**kind) { client.plan_migration(SCHEDULE, SCHEDULE, ids: ["a"], **kind) },
      ->(**kind) { client.audit_ids(SCHEDULE, ["a"], **kind) }
    ]
    asks.each do |ask|
      missing = assert_raises(Offbeat::InvalidArgument) { ask.call }
      unknown = assert_raises(Offbeat::InvalidArgument) { ask.call(kind: "mail") }
      assert_equal %w[ERROR_REASON_FIELD_MISSING ERROR_REASON_OUT_OF_RANGE], [missing, unknown].map(&:reason)
      [missing, unknown].each do |error|
        assert_equal "kind", error.field
        assert_includes error.allowed, "import, export, report"
      end
      assert_refused("kind") { ask.call(kind: 5) }
    end
  end

  def test_kinds_that_cannot_be_are_refused
    describe = ->(**options) { client.describe_schedule(Offbeat::Schedule.new(period: 28_800, slot_count: 96, **options)) }
    {
      "schedule.spec.kinds[1].name" => [{ kinds: %w[a a] }, { kinds: ["a", "b/c"] }],
      "schedule.spec.kinds[1].run_time" => [{ kinds: [*timed(a: 60), "b"] }],
      "schedule.spec.kinds" => [{ kinds: Array.new(97) { |number| "kind#{number}" } }],
      "schedule.spec.kind_spacing" => [{ kind_spacing: :stable }, { kinds: timed(a: 60), kind_spacing: :stable }],
      "schedule.spec.kind_conflicts" => [{ kind_conflicts: [%w[a b]] }, { kinds: %w[a b], kind_conflicts: [%w[a a]] }],
      "schedule.spec.kind_conflicts[0].second_kind" => [{ kinds: %w[a b], kind_conflicts: [%w[a c]] }],
      "schedule.spec.catch_up_span" => [{ catch_up_span: 60 }, { kinds: %w[a b], catch_up_span: 7_201 },
                                        { kinds: timed(a: 600, b: 600), catch_up_span: 600 }],
      "schedule.spec.weight_quantum" => [{ kinds: %w[a b], weight_quantum: 5 }],
      "schedule.spec.exclusions[0].policy" => [
        { kinds: %w[a b], exclusions: [Offbeat::Exclusion.new(times: NOON...(NOON + 60))] }
      ]
    }.each do |field, wrong|
      wrong.each { |options| assert_refused(field) { describe.call(**options) } }
    end
    late = lambda do |**policy|
      client.list_due_runs(SCHEDULE, ["a"], kind: "import", watermark: NOON, now_time: NOON, catch_up_policy: Offbeat::CatchUpPolicy.new(**policy))
    end
    assert_refused("catch_up_policy.smear_span", "CONTRADICTORY") { late.call(smear_span: 60) }
    assert_refused("catch_up_policy.on_time_tolerance") { late.call(on_time_tolerance: 9_601) }
    late.call(on_time_tolerance: 9_600, horizon: 9_600)
  end
end
