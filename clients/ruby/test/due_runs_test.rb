# frozen_string_literal: true

require_relative "helper"
require "set"

# Runs that have become due since the watermark, and missed runs.
class DueRunsTest < OffbeatTest
  IDS = Array.new(200) { |number| "customer #{number}" }.freeze
  HOURLY = Offbeat::Schedule.new(period: 3_600, slot_count: 60, weight_quantum: 10)

  def policy(missed_run_policy = nil, **others)
    Offbeat::CatchUpPolicy.new(missed_run_policy: missed_run_policy, **others)
  end

  # The run keys of all IDs in a span, from assigning them one by one.
  def all_runs(schedule, from, till)
    IDS.flat_map do |id|
      count = ((till - from) / schedule.period).ceil
      runs = client.assign_slot(schedule, id, from_time: from, next_run_count: count, kind: "poll").next_runs
      runs.select { |run| run.start_time < till }.map(&:run_key)
    end
  end

  # Half-open watermarks: at any polling interval, each run is listed once.
  def test_polling_at_random_lists_each_run_once
    random = Random.new(7)
    till = NOON + (5 * 3_600)
    watermark = NOON
    listed = []
    while watermark < till
      # Some polls are at the instant of a run, or close to it.
      now = watermark + [random.rand * 1_000, random.rand(900), 0.001r, 4_000.5].sample(random: random)
      due = client.list_due_runs(HOURLY, IDS, watermark: watermark, now_time: [now, till].min, kind: "poll",
                                              catch_up_policy: policy(:run_all, horizon: 86_400))
      due.each { |run| assert run.scheduled_time >= watermark && run.scheduled_time < now, run.to_s }
      assert_equal 0, due.dropped_run_count
      listed.concat(due.map(&:run_key))
      watermark = due.next_watermark_time
    end
    assert_equal till, watermark
    assert_equal all_runs(HOURLY, NOON, till).sort, listed.sort
  end

  def test_missed_runs_are_what_the_policy_says
    now = NOON + (3 * 3_600) + 600
    ask = lambda do |missed, **more|
      catch_up = policy(missed, on_time_tolerance: 60, horizon: 86_400, **more)
      client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: now, catch_up_policy: catch_up)
    end
    all, once, dropped = %i[run_all run_once drop].map { |missed| ask.call(missed) }
    on_time = all.select { |run| run.scheduled_time >= now - 60 }
    assert_equal on_time.map(&:run_key), dropped.map(&:run_key)
    assert_equal [all.size, 0], [all.late_run_count + on_time.size, all.dropped_run_count]
    assert_equal all.size - dropped.size, dropped.dropped_run_count
    assert_equal [IDS, all.size], [once.map(&:id), once.size + once.dropped_run_count]
    assert_equal ask.call(nil).to_a, once.to_a
    all.each { |run| assert_equal [run.scheduled_time, now].max, [run.start_time, now].max }
    assert_equal [now], (all.to_a - on_time).map(&:start_time).uniq

    smeared = ask.call(:run_all, smear_span: 1_200).map(&:start_time)
    assert_operator smeared.uniq.size, :>, 100
    assert smeared.all? { |time| time < now + 1_200 }
    recent = ask.call(:run_all, horizon: 1_800)
    assert(recent.all? { |run| run.scheduled_time >= now - 1_800 })
    assert_equal all.size - recent.size, recent.dropped_run_count
  end

  # Runs are enqueued ahead, with their start times; lateness is still judged by the current time.
  def test_looking_ahead
    ask = ->(now, **more) { client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: now, catch_up_policy: policy(:run_all), **more) }
    till = NOON + 3_000
    plain, ahead = ask.call(till), ask.call(NOON + 1_200, look_ahead: 1_800)
    assert_equal [plain.map(&:run_key), till], [ahead.map(&:run_key), ahead.next_watermark_time]
    on_time, late = ahead.partition { |run| run.scheduled_time >= NOON + 1_140 }
    assert_equal [0, late.size], [on_time, late].map { |some| some.count(&:late?) }
    on_time.each { |run| assert_equal run.scheduled_time, run.start_time }
    assert_equal [late.size, [NOON + 1_200]], [ahead.late_run_count, late.map(&:start_time).uniq]
    assert_operator on_time.count { |run| run.start_time > NOON + 1_200 }, :>, 50
    assert_equal NOON + 1_200.001r, client.list_due_runs(HOURLY, [], watermark: NOON, now_time: NOON, look_ahead: 1_200.0005r).next_watermark_time
    client.list_due_runs(HOURLY, IDS, watermark: NOON + 1_860, now_time: NOON, look_ahead: 1_800)
  end

  def test_a_late_run_that_the_next_one_supersedes
    now = NOON + 3_600
    ids = IDS.select { |id| client.assign_slot(HOURLY, id, from_time: NOON).next_run.start_time < now - 60 }
    next_in = ids.to_h { |id| [id, client.assign_slot(HOURLY, id, from_time: now).next_run.start_time - now] }
    ask = ->(catch_up) { client.list_due_runs(HOURLY, ids, watermark: NOON, now_time: now, catch_up_policy: catch_up) }
    starts = ask.call(policy(:run_all, smear_span: 1_200)).to_h { |run| [run.id, run.start_time - now] }
    { 0 => policy(smear_span: 1_200), 600 => policy(smear_span: 1_200, min_gap: 600) }.each do |gap, catch_up|
      answer = ask.call(catch_up)
      listed = ids.select { |id| starts[id] < next_in[id] && starts[id] <= next_in[id] - gap }
      assert_equal [listed, ids.size - listed.size], [answer.map(&:id), answer.superseded_run_count]
      assert_operator answer.superseded_run_count, :>, 20
      assert_equal 0, answer.dropped_run_count
    end
  end

  def test_skipped_runs_are_counted
    holiday = Offbeat::Exclusion.new(times: NOON...(NOON + 7_200), policy: :skip)
    schedule = Offbeat::Schedule.new(period: 3_600, slot_count: 60, exclusions: [holiday])
    due = client.list_due_runs(schedule, IDS, watermark: NOON - 3_600, now_time: NOON + 7_200,
                                         catch_up_policy: policy(:run_all, horizon: 86_400))
    assert_equal [200, 400, 0], [due.size, due.skipped_run_count, due.dropped_run_count]
    zone = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Pacific/Apia")
    samoa = client.list_due_runs(Offbeat::Schedule.new(calendar: zone), IDS, watermark: Time.utc(2011, 12, 29), now_time: Time.utc(2012),
                                                                             catch_up_policy: policy(:run_all, horizon: 7 * 86_400))
    assert_equal 200, samoa.skipped_run_count # 30 December 2011
    assert_equal samoa.map(&:start_time).size, samoa.map(&:run_key).uniq.size
  end

  def test_until_when_nothing_is_due
    due = client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: NOON + 60)
    following = IDS.map { |id| client.assign_slot(HOURLY, id, from_time: NOON + 60).next_run.start_time }
    assert_equal following.min, due.next_due_time
    assert_equal 0, client.list_due_runs(HOURLY, IDS, watermark: NOON + 60, now_time: due.next_due_time).size
    assert_operator client.list_due_runs(HOURLY, IDS, watermark: NOON + 60, now_time: due.next_due_time + 1).size, :>, 0
    many, *alone = [0...70_000, 0...65_536, 65_536...70_000].map do |ids|
      client.list_due_runs(Offbeat::Schedule.new(period: 86_400), ids, watermark: NOON, now_time: NOON).next_due_time
    end
    assert_equal alone.min, many
    refute_equal(*alone)
    never = Offbeat::Exclusion.new(times: NOON...(NOON + (366 * 86_400)), policy: :skip)
    excluded = client.list_due_runs(Offbeat::Schedule.new(period: 3_600, exclusions: [never]), IDS, watermark: NOON, now_time: NOON + 60)
    assert_nil excluded.next_due_time
    assert_nil client.list_due_runs(HOURLY, [], watermark: NOON, now_time: NOON).next_due_time
  end

  def test_watermarks_of_ones_own
    watermarks = IDS.each_index.map { |number| NOON + (number * 17) + 0.0005r }
    now = NOON + 3_600
    due = client.list_due_runs(HOURLY, IDS, watermarks: watermarks.each, now_time: now, catch_up_policy: policy(:run_all))
    expected = IDS.zip(watermarks).flat_map do |id, watermark|
      run = client.assign_slot(HOURLY, id, from_time: watermark).next_run
      run.start_time < now ? [[id, run.start_time, run.run_key]] : []
    end
    assert_equal expected, due.map { |run| [run.id, run.scheduled_time, run.run_key] }
    # A run at the watermark is due; a run half a millisecond earlier is not.
    at = client.assign_slot(HOURLY, "a", from_time: NOON).next_run.start_time
    marks = [at, at + 0.0005r, at - 0.0005r]
    assert_equal [0, 2], client.list_due_runs(HOURLY, %w[a a a], watermarks: marks, now_time: at + 1).id_indexes
  end

  def test_pieces_are_due_as_ids_are
    now = NOON + 3_600
    due = client.list_due_runs(HOURLY, %w[a b], weights: [5, 35], watermark: NOON, now_time: now, kind: "poll",
                                                catch_up_policy: policy(:run_all))
    assert_equal [[0, 0], [1, 0], [1, 1], [1, 2], [1, 3]], due.id_indexes.zip(due.piece_indexes)
    keys = client.assign_slots(HOURLY, %w[a b], weights: [5, 35], from_time: NOON, kind: "poll").map(&:run_key)
    assert_equal keys, due.map(&:run_key)
  end

  # An answer holds 65,536 runs; the client requests further pages.
  def test_any_number_of_runs
    every_minute = Offbeat::Schedule.new(period: 60, slot_count: 1)
    ids = Array.new(1_000) { |number| number }
    bad = ids.dup.tap { |some| some[900] = 2**128 }
    now = NOON + (100 * 60)
    ask = lambda do |some|
      client.list_due_runs(every_minute, some, watermarks: some.map { NOON }, now_time: now, return_errors: true,
                                               catch_up_policy: policy(:run_all, horizon: 86_400))
    end
    due = ask.call(ids)
    assert_equal [100_000, now], [due.size, due.next_watermark_time]
    assert_equal ids.flat_map { |id| [id] * 100 }, due.id_indexes
    assert_equal 100_000, due.map(&:run_key).uniq.size
    without = ask.call(bad)
    assert_equal [99_900, [900], ["ids[900]"]], [without.size, without.errors.map(&:id_index), without.errors.map(&:field)]
    assert_equal due.each_with_index.reject { |run, _| run.id == 900 }.map { |run, _| run.run_key }, without.map(&:run_key)
    assert_equal [without.count(&:late?), 0, now], [without.late_run_count, without.dropped_run_count, without.next_watermark_time]
    alone = client.list_due_runs(Offbeat::Schedule.new(period: 1, slot_count: 1), [1], watermark: NOON, now_time: NOON + 70_000,
                                                                                       catch_up_policy: policy(:run_all, horizon: 86_400))
    assert_equal [*NOON.to_i...(NOON.to_i + 70_000)], alone.cycle_indexes
    assert_equal [69_999, NOON + 70_000, NOON + 70_000], [alone.late_run_count, alone.next_watermark_time, alone.next_due_time]
  end

  # With exclusions, cycles are searched one by one; the client halves requests that cost too much.
  def test_more_cycles_than_one_question_may_cost
    impatient = Offbeat::Client.new(Sidecar::SHARED.address)
    impatient.define_singleton_method(:call) do |method, request, *more, **options|
      if request.respond_to?(:ids) && request.ids.texts.size > 30
        raise Offbeat.refused("ids", request.ids.texts.size, "must need fewer cycles", reason: "ERROR_REASON_OUT_OF_RANGE")
      end

      super(method, request, *more, **options)
    end
    options = { now_time: NOON + 3_600, catch_up_policy: policy(:run_all), weights: IDS.each_index, watermarks: IDS.each_index.map { |row| NOON + row } }
    halves, whole = [impatient, client].map { |asked| asked.list_due_runs(HOURLY, IDS, **options) }
    assert_equal [whole.to_a, whole.id_indexes], [halves.to_a, halves.id_indexes]
    assert_operator whole.size, :>, 2_000
    alone = assert_raises(Offbeat::InvalidArgument) do
      client.list_due_runs(Offbeat::Schedule.new(period: 1, slot_count: 1, exclusions: [Offbeat::Exclusion.new(times: NOON...(NOON + 1))]), [1],
                           watermark: NOON - (200 * 86_400), now_time: NOON)
    end
    assert_equal %w[ids ERROR_REASON_OUT_OF_RANGE], [alone.field, alone.reason]
  end

  def test_refused_ids
    ids = ["a", "x" * 1_025, "b"]
    options = { watermark: NOON, now_time: NOON + 3_600, catch_up_policy: policy(:run_all) }
    error = assert_raises(Offbeat::BadIds) { client.list_due_runs(HOURLY, ids, **options) }
    assert_equal [%w[a b], [1]], [error.answer.map(&:id), error.errors.map(&:id_index)]
    assert_equal %w[a b], client.list_due_runs(HOURLY, ids, **options, return_errors: true).map(&:id)
  end

  def test_nothing_is_due
    due = client.list_due_runs(HOURLY, [], watermark: NOON, now_time: NOON + 60)
    assert_equal [[], NOON + 60, client.describe_schedule(HOURLY).fingerprint], [due.to_a, due.next_watermark_time, due.fingerprint]
    assert_equal NOON + 90, client.list_due_runs(HOURLY, [], watermark: NOON + 90, now_time: NOON + 60).next_watermark_time
    ahead = client.list_due_runs(HOURLY, IDS, watermark: NOON + 90, now_time: NOON + 60)
    assert_equal [0, NOON + 90], [ahead.size, ahead.next_watermark_time]
    assert_raises(Offbeat::InvalidArgument) { client.list_due_runs(Offbeat::Schedule.new(period: 0), [], watermark: NOON) }
    before = Time.now
    assert_operator client.list_due_runs(HOURLY, IDS, watermark: before).next_watermark_time, :>=, before
  end

  def test_answers_never_change
    due = client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: NOON + 600)
    assert_predicate due, :frozen?
    [due.ids, due.id_indexes, due.start_unix_millis, due.errors, due.first].each { |part| assert_predicate part, :frozen? }
  end

  def test_what_cannot_be_is_refused
    ask = ->(ids = IDS, **options) { client.list_due_runs(HOURLY, ids, now_time: NOON, **options) }
    {
      "watermark_time" => -> { ask.call }, "watermarks" => -> { ask.call(watermarks: [NOON]) },
      "watermarks[1]" => -> { ask.call(%w[a b], watermarks: [NOON, "noon"]) },
      "catch_up_policy" => -> { ask.call(watermark: NOON, catch_up_policy: :run_all) },
      "catch_up_policy.missed_run_policy" => -> { ask.call(watermark: NOON, catch_up_policy: policy(:never)) },
      "catch_up_policy.smear_span" => -> { ask.call(watermark: NOON, catch_up_policy: policy(smear_span: "1h")) },
      "catch_up_policy.horizon" => -> { ask.call(watermark: NOON, catch_up_policy: policy(horizon: 1)) },
      "catch_up_policy.on_time_tolerance" => -> { ask.call(watermark: NOON, catch_up_policy: policy(on_time_tolerance: -1)) },
      "catch_up_policy.min_gap" => -> { ask.call(watermark: NOON, catch_up_policy: policy(min_gap: "1m")) },
      "max_clock_skew" => -> { ask.call(watermark: NOON, max_clock_skew: 3_601) },
      "look_ahead" => -> { ask.call(watermark: NOON, look_ahead: 3_601) },
      "ids[1]" => -> { ask.call(["a", 5], watermark: NOON) }, "weights" => -> { ask.call(watermark: NOON, weights: [1]) }
    }.each do |field, refused|
      assert_equal field, assert_raises(Offbeat::InvalidArgument, field, &refused).field
    end
    late = assert_raises(Offbeat::InvalidArgument) { ask.call(watermark: NOON + 61) }
    assert_equal "watermark_time", late.field
    ask.call(watermark: NOON + 61, max_clock_skew: 61)
    # A poller slower than the default tolerance would lose runs.
    slow = assert_raises(Offbeat::InvalidArgument) { ask.call(watermark: NOON, catch_up_policy: policy(:drop)) }
    assert_equal %w[catch_up_policy.on_time_tolerance ERROR_REASON_FIELD_MISSING], [slow.field, slow.reason]
  end
end
