# frozen_string_literal: true

require_relative "helper"
require "set"

# What is due since the last time, and what was missed.
class DueRunsTest < OffbeatTest
  IDS = Array.new(200) { |number| "customer #{number}" }.freeze
  HOURLY = Offbeat::Schedule.new(period: 3_600, slot_count: 60, weight_quantum: 10)

  # The run keys of all IDs in a span, as one by one they are assigned.
  def all_runs(schedule, from, till)
    IDS.flat_map do |id|
      count = ((till - from) / schedule.period).ceil
      runs = client.assign_slot(schedule, id, from_time: from, next_run_count: count, kind: "poll").next_runs
      runs.select { |run| run.start_time < till }.map(&:run_key)
    end
  end

  # Half-open watermarks: whatever the rhythm, each run is listed once.
  def test_polling_at_random_lists_each_run_once
    random = Random.new(7)
    till = NOON + (5 * 3_600)
    watermark = NOON
    listed = []
    while watermark < till
      # Now and then at the instant of a run, or nearly there.
      now = watermark + [random.rand * 1_000, random.rand(900), 0.001r, 4_000.5].sample(random: random)
      due = client.list_due_runs(HOURLY, IDS, watermark: watermark, now_time: [now, till].min, kind: "poll",
                                              missed_run_policy: :run_all, catch_up_horizon: 86_400)
      due.each { |run| assert run.scheduled_time >= watermark && run.scheduled_time < now, run.to_s }
      assert_equal 0, due.dropped_run_count
      listed.concat(due.map(&:run_key))
      watermark = due.next_watermark
    end
    assert_equal till, watermark
    assert_equal all_runs(HOURLY, NOON, till).sort, listed.sort
  end

  def test_missed_runs_are_what_the_policy_says
    now = NOON + (3 * 3_600) + 600
    ask = lambda do |policy, **more|
      client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: now, missed_run_policy: policy, on_time_tolerance: 60,
                                        catch_up_horizon: 86_400, **more)
    end
    all, once, skipped = %i[run_all run_once skip].map { |policy| ask.call(policy) }
    on_time = all.select { |run| run.scheduled_time >= now - 60 }
    assert_equal on_time.map(&:run_key), skipped.map(&:run_key)
    assert_equal [all.size, 0], [all.late_run_count + on_time.size, all.dropped_run_count]
    assert_equal all.size - skipped.size, skipped.dropped_run_count
    assert_equal [IDS, all.size], [once.map(&:id), once.size + once.dropped_run_count]
    assert_equal client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: now, on_time_tolerance: 60,
                                                   catch_up_horizon: 86_400).to_a, once.to_a
    all.each { |run| assert_equal [run.scheduled_time, now].max, [run.start_time, now].max }
    assert_equal [now], (all.to_a - on_time).map(&:start_time).uniq

    smeared = ask.call(:run_all, smear_span: 1_200).map(&:start_time)
    assert_operator smeared.uniq.size, :>, 100
    assert smeared.all? { |time| time < now + 1_200 }
    recent = ask.call(:run_all, catch_up_horizon: 1_800)
    assert(recent.all? { |run| run.scheduled_time >= now - 1_800 })
    assert_equal all.size - recent.size, recent.dropped_run_count
  end

  def test_watermarks_of_ones_own
    watermarks = IDS.each_index.map { |number| NOON + (number * 17) + 0.0005r }
    now = NOON + 3_600
    due = client.list_due_runs(HOURLY, IDS, watermarks: watermarks.each, now_time: now, missed_run_policy: :run_all)
    expected = IDS.zip(watermarks).flat_map do |id, watermark|
      run = client.assign_slot(HOURLY, id, from_time: watermark).next_run
      run.start_time < now ? [[id, run.start_time, run.run_key]] : []
    end
    assert_equal expected, due.map { |run| [run.id, run.scheduled_time, run.run_key] }
    # A run at the watermark is due; one half a millisecond before is not.
    at = client.assign_slot(HOURLY, "a", from_time: NOON).next_run.start_time
    marks = [at, at + 0.0005r, at - 0.0005r]
    assert_equal [0, 2], client.list_due_runs(HOURLY, %w[a a a], watermarks: marks, now_time: at + 1).id_indexes
  end

  def test_pieces_are_due_as_ids_are
    now = NOON + 3_600
    due = client.list_due_runs(HOURLY, %w[a b], weights: [5, 35], watermark: NOON, now_time: now, kind: "poll",
                                                missed_run_policy: :run_all)
    assert_equal [[0, 0], [1, 0], [1, 1], [1, 2], [1, 3]], due.id_indexes.zip(due.piece_indexes)
    keys = client.assign_slots(HOURLY, %w[a b], weights: [5, 35], from_time: NOON, kind: "poll").map(&:run_key)
    assert_equal keys, due.map(&:run_key)
  end

  # 65,536 runs fit into an answer: of more, halves are asked for.
  def test_any_number_of_runs
    every_minute = Offbeat::Schedule.new(period: 60, slot_count: 1)
    ids = Array.new(1_000) { |number| number }
    bad = ids.dup.tap { |some| some[900] = 2**128 }
    now = NOON + (100 * 60)
    ask = lambda do |some|
      client.list_due_runs(every_minute, some, watermarks: some.map { NOON }, now_time: now, missed_run_policy: :run_all,
                                               catch_up_horizon: 86_400, return_errors: true)
    end
    due = ask.call(ids)
    assert_equal [100_000, now], [due.size, due.next_watermark]
    assert_equal ids.flat_map { |id| [id] * 100 }, due.id_indexes
    assert_equal 100_000, due.map(&:run_key).uniq.size
    without = ask.call(bad)
    assert_equal [99_900, [900], ["ids[900]"]], [without.size, without.errors.map(&:id_index), without.errors.map(&:field)]
    assert_equal due.each_with_index.reject { |run, _| run.id == 900 }.map { |run, _| run.run_key }, without.map(&:run_key)
    alone = assert_raises(Offbeat::InvalidArgument) do
      client.list_due_runs(Offbeat::Schedule.new(period: 1, slot_count: 1), [1], watermark: NOON, now_time: NOON + 70_000,
                                                                                 missed_run_policy: :run_all, catch_up_horizon: 86_400)
    end
    assert_equal "ids", alone.field
  end

  def test_refused_ids
    ids = ["a", "x" * 1_025, "b"]
    options = { watermark: NOON, now_time: NOON + 3_600, missed_run_policy: :run_all }
    error = assert_raises(Offbeat::BadIds) { client.list_due_runs(HOURLY, ids, **options) }
    assert_equal [%w[a b], [1]], [error.answer.map(&:id), error.errors.map(&:id_index)]
    assert_equal %w[a b], client.list_due_runs(HOURLY, ids, **options, return_errors: true).map(&:id)
  end

  def test_nothing_is_due
    due = client.list_due_runs(HOURLY, [], watermark: NOON, now_time: NOON + 60)
    assert_equal [[], NOON + 60, client.describe_schedule(HOURLY).fingerprint], [due.to_a, due.next_watermark, due.fingerprint]
    assert_equal NOON + 90, client.list_due_runs(HOURLY, [], watermark: NOON + 90, now_time: NOON + 60).next_watermark
    ahead = client.list_due_runs(HOURLY, IDS, watermark: NOON + 90, now_time: NOON + 60)
    assert_equal [0, NOON + 90], [ahead.size, ahead.next_watermark]
    assert_raises(Offbeat::InvalidArgument) { client.list_due_runs(Offbeat::Schedule.new(period: 0), [], watermark: NOON) }
    before = Time.now
    assert_operator client.list_due_runs(HOURLY, IDS, watermark: before).next_watermark, :>=, before
  end

  def test_answers_never_change
    due = client.list_due_runs(HOURLY, IDS, watermark: NOON, now_time: NOON + 600)
    assert_predicate due, :frozen?
    [due.ids, due.id_indexes, due.start_unix_millis, due.errors, due.first].each { |part| assert_predicate part, :frozen? }
  end

  def test_what_cannot_be_is_refused
    ask = ->(ids = IDS, **options) { client.list_due_runs(HOURLY, ids, now_time: NOON, **options) }
    {
      "watermark" => -> { ask.call }, "watermarks" => -> { ask.call(watermarks: [NOON]) },
      "watermarks[1]" => -> { ask.call(%w[a b], watermarks: [NOON, "noon"]) },
      "missed_run_policy" => -> { ask.call(watermark: NOON, missed_run_policy: :never) },
      "smear_span" => -> { ask.call(watermark: NOON, smear_span: "1h") },
      "catch_up_horizon" => -> { ask.call(watermark: NOON, catch_up_horizon: 1) },
      "on_time_tolerance" => -> { ask.call(watermark: NOON, on_time_tolerance: -1) },
      "max_clock_skew" => -> { ask.call(watermark: NOON, max_clock_skew: 3_601) },
      "ids[1]" => -> { ask.call(["a", 5], watermark: NOON) }, "weights" => -> { ask.call(watermark: NOON, weights: [1]) }
    }.each do |field, refused|
      assert_equal field, assert_raises(Offbeat::InvalidArgument, field, &refused).field
    end
    late = assert_raises(Offbeat::InvalidArgument) { ask.call(watermark: NOON + 61) }
    assert_equal "watermark", late.field
    ask.call(watermark: NOON + 61, max_clock_skew: 61)
  end
end
