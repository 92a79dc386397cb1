# frozen_string_literal: true

require_relative "helper"

# Kinds of job that must not meet.
class ReciprocalsTest < OffbeatTest
  EIGHT_SLOTS = Offbeat::Schedule.new(period: 28_800, slot_count: 8, anchor_time: NOON)

  def ask(**options)
    client.reciprocal_slots(EIGHT_SLOTS, **options)
  end

  # Of four kinds, only neighbours share a lock: they stand opposite to each other.
  def test_kinds_without_a_conflict_may_meet
    pairs = [[0, 1], [1, 2], [2, 3]]
    assert_equal [2, [0, 4, 0, 4]], [ask(kind_count: 4).gap_slot_count, ask(kind_count: 4, conflicts: pairs).kinds.map(&:user_slot_index)]
    assert_equal 4, ask(kind_count: 4, conflicts: pairs.each).gap_slot_count
    assert_equal [2, 2], [ask(kind_count: 4, conflicts: []), ask(kind_count: 4, conflicts: [*0...4].combination(2))].map(&:gap_slot_count)
  end

  def test_delays_shorten_the_run_budgets
    plain = ask(kind_count: 2)
    late = ask(kind_count: 2, polling_delay: 60, slot_job_delay: 90.5)
    assert_equal [plain.run_budget - 150.5r, plain.independent_run_budget - 150.5r], [late.run_budget, late.independent_run_budget]
    assert_equal [late.run_budget] * 2, late.kinds.map(&:run_budget)
    assert_equal plain.gap, late.gap
  end

  def test_what_cannot_be_is_refused
    {
      "conflicts" => { conflicts: 5 }, "conflicts[1]" => { conflicts: [[0, 1], [0, 1, 2]] },
      "conflicts[0].second_kind_index" => { conflicts: [[0, "1"]] },
      "polling_delay" => { polling_delay: -1 }, "slot_job_delay" => { slot_job_delay: "1" }, "spacing" => { spacing: :odd }
    }.each do |field, options|
      error = assert_raises(Offbeat::InvalidArgument, field) { ask(kind_count: 2, **options) }
      assert_equal field, error.field
    end
  end
end
