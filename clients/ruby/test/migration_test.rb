# frozen_string_literal: true

require_relative "helper"
require "digest"
require "sqlite3"

# Migrations from one schedule to another.
class MigrationTest < OffbeatTest
  OLD = Offbeat::Schedule.new(period: 12 * 3600, slot_count: 240)
  NEW = Offbeat::Schedule.new(period: 8 * 3600, slot_count: 240)
  CUTOVER = NOON + (6 * 3600)
  IDS = Array.new(500) { |number| "customer #{number}" }.freeze

  def run_before(schedule, id, time)
    client.assign_slot(schedule, id, from_time: time).last_run
  end

  def runs_from(schedule, id, time)
    client.assign_slot(schedule, id, from_time: time, next_run_count: 3, kind: "poll").next_runs
  end

  def test_no_run_is_lost_and_none_comes_too_soon
    min_gap = 9_000
    plan = client.plan_migration(OLD, NEW, cutover_time: CUTOVER, min_gap: min_gap, ids: IDS, kind: "poll")
    left_out = 0
    gaps = plan.ids.map do |row|
      old = run_before(OLD, row.id, CUTOVER)
      runs = runs_from(NEW, row.id, CUTOVER)
      new = runs.find { |run| run.start_time - old.start_time >= min_gap }
      left_out += runs.index(new)
      assert_equal [old.start_time, old.cycle_index], [row.last_old_time, row.last_old_cycle_index]
      assert_equal [new.start_time, new.cycle_index, new.run_key], [row.first_new_time, row.first_new_cycle_index, row.first_new_run_key]
      assert_equal old.run_key.sub("default", "poll"), row.last_old_run_key
      new.start_time - old.start_time
    end
    assert_equal [IDS, 500, left_out], [plan.ids.map(&:id), plan.ids.size, plan.ids.left_out_run_count]
    assert_operator left_out, :>, 10
    assert_equal gaps.minmax, [plan.ids.observed_min_gap, plan.ids.observed_max_gap]
    assert_operator plan.max_gap_bound, :>=, gaps.max
    moved = plan.ids.count { |row| runs_from(OLD, row.id, CUTOVER)[0].start_time != row.first_new_time }
    assert_equal [moved, moved / 500.0], [plan.ids.moved_id_count, plan.ids.moved_ratio]
    assert_equal [OLD, NEW].map { |schedule| client.describe_schedule(schedule).fingerprint }, [plan.old_fingerprint, plan.new_fingerprint]
  end

  def test_paths_say_what_moves
    finer = Offbeat::Schedule.new(period: 12 * 3600, slot_count: 720)
    salted = Offbeat::Schedule.new(period: 12 * 3600, slot_count: 240, salt: "v2")
    paths = [OLD, finer, NEW, salted].map { |schedule| client.plan_migration(OLD, schedule, ids: IDS) }
    assert_equal %i[unchanged same_times same_order new_places], paths.map(&:path)
    assert_equal [0.0, 0.0], paths.first(2).map { |plan| plan.ids.moved_ratio }
    assert_operator paths.last.ids.moved_ratio, :>, 0.9
    assert_equal [NilClass, String], [paths.first, paths.last].map { |plan| plan.advice.class }
  end

  def test_the_cutover_is_the_next_cycle_unless_it_is_said
    plan = client.plan_migration(OLD, NEW)
    assert_operator plan.cutover_time, :>, Time.now
    assert_equal 0, plan.cutover_time.to_i % OLD.period
    assert_nil plan.ids
    assert_equal [[], [], []], [plan.steps, plan.sql_indexes, plan.errors]
    assert_equal CUTOVER, client.plan_migration(OLD, NEW, cutover_time: CUTOVER).cutover_time
  end

  # The SQL steps give each row the runs of the plan, in every dialect.
  def test_steps_select_what_the_plan_says
    column = Offbeat::SqlTarget.new(dialect: :sqlite, table: "customers", column: "hash", column_type: :hash_digits, parameter_style: :named)
    min_gap = 9_000
    plan = client.plan_migration(OLD, NEW, cutover_time: CUTOVER, min_gap: min_gap, ids: IDS, sql_target: column)
    base = SQLite3::Database.new(":memory:")
    base.execute("CREATE TABLE customers (hash TEXT)")
    IDS.each { |id| base.execute("INSERT INTO customers VALUES (?)", [Digest::MD5.hexdigest(id)]) }
    plan.sql_indexes.each { |index| index.create_statements.each { |statement| base.execute(statement) } }
    first_new, last_old = {}, {}
    plan.steps.each do |step|
      assert_includes plan.sql_indexes, step.predicate.index
      rows = base.execute("SELECT rowid - 1 FROM customers WHERE #{step.predicate.sql}", step.predicate.parameters).flatten
      rows.each { |row| step.by_new_schedule ? first_new[row] ||= step : last_old[row] = step }
    end
    plan.ids.each_with_index do |row, index|
      { last_old[index] => row.last_old_time, first_new[index] => row.first_new_time }.each do |step, time|
        assert time >= step.start_time && time < step.end_time, row.to_s
      end
    end
  end

  # A message holds 65,536 IDs; more of them are still one plan.
  def test_any_number_of_ids
    ids = 0...70_000
    plan = client.plan_migration(OLD, NEW, ids: ids)
    assert_equal [70_000, 69_999], [plan.ids.size, plan.ids[69_999].id]
    last = client.plan_migration(OLD, NEW, ids: [69_999], cutover_time: plan.cutover_time)
    assert_equal last.ids[0], plan.ids[69_999]
    assert_equal 0, client.plan_migration(OLD, NEW, ids: []).ids.size
  end

  def test_figures_of_several_messages_are_those_of_all
    short, long = client.plan_migration(OLD, NEW, cutover_time: CUTOVER, ids: IDS).ids.minmax_by { |row| row.first_new_time - row.last_old_time }
    [[short, long], [long, short]].each do |one, other|
      ids = [*Array.new(65_536, one.id), other.id]
      all = client.plan_migration(OLD, NEW, cutover_time: CUTOVER, min_gap: 9_000, ids: ids).ids
      one_by_one = [one, other].map { |row| client.plan_migration(OLD, NEW, cutover_time: CUTOVER, min_gap: 9_000, ids: [row.id]).ids }
      assert_equal one_by_one.flat_map { |alone| [alone.observed_min_gap, alone.observed_max_gap] }.minmax, [all.observed_min_gap, all.observed_max_gap]
      first, last = one_by_one
      assert_equal [(65_536 * first.moved_id_count) + last.moved_id_count, (65_536 * first.left_out_run_count) + last.left_out_run_count],
                   [all.moved_id_count, all.left_out_run_count]
      assert_equal all.moved_id_count / 65_537.0, all.moved_ratio
    end
  end

  # Two salts need an index each.
  def test_steps_name_the_index_that_serves_them
    column = Offbeat::SqlTarget.new(dialect: :postgresql, table: "customers", column: "name", column_type: :text)
    salted = Offbeat::Schedule.new(period: 8 * 3600, slot_count: 240, salt: "v2")
    plan = client.plan_migration(OLD, salted, cutover_time: CUTOVER, sql_target: column)
    assert_equal 2, plan.sql_indexes.uniq.size
    plan.steps.each { |step| assert_equal plan.sql_indexes[step.by_new_schedule ? 1 : 0], step.predicate.index }
    assert_equal [false, true], plan.steps.map(&:by_new_schedule).uniq
  end

  def test_refused_ids
    ids = ["a", "x" * 1_025, "b"]
    error = assert_raises(Offbeat::BadIds) { client.plan_migration(OLD, NEW, cutover_time: CUTOVER, ids: ids) }
    assert_equal [[1], "ids[1]"], [error.errors.map(&:id_index), error.field]
    rows = error.answer.ids
    assert_equal [%w[a b], 3], [rows.accepted.map(&:id), rows.size]
    assert_raises(KeyError) { rows[1] }
    alone = client.plan_migration(OLD, NEW, cutover_time: CUTOVER, ids: %w[a b]).ids
    assert_equal [alone.to_a, alone.moved_ratio], [rows.accepted.to_a, rows.moved_ratio]
    nobody = client.plan_migration(OLD, NEW, ids: ["x" * 1_025], return_errors: true).ids
    assert_equal [0.0, nil, nil], [nobody.moved_ratio, nobody.observed_min_gap, nobody.observed_max_gap]
  end

  def test_what_cannot_be_is_refused
    { "old_schedule" => [nil, NEW], "new_schedule.spec.period" => [OLD, Offbeat::Schedule.new(period: "8h")],
      "new_schedule.spec.slot_count" => [OLD, Offbeat::Schedule.new(period: 10, slot_count: 3)] }.each do |field, schedules|
      assert_equal field, assert_raises(Offbeat::InvalidArgument) { client.plan_migration(*schedules) }.field
    end
    { min_gap: -1, cutover_time: "noon", kind: "a/b" }.each do |name, value|
      error = assert_raises(Offbeat::InvalidArgument) { client.plan_migration(OLD, NEW, **{ name => value }) }
      assert_equal name.to_s, error.field
    end
  end
end
