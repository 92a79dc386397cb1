# frozen_string_literal: true

require_relative "helper"

# Kinds of job that must not meet.
class ReciprocalsTest < OffbeatTest
  EIGHT_SLOTS = Offbeat::Schedule.new(period: 28_800, slot_count: 8, anchor_time: NOON)

  def ask(**options)
    client.reciprocal_slots(EIGHT_SLOTS, **options)
  end

  # Of four kinds, only neighbours share a lock, so neighbours are opposite to each other.
  def test_kinds_without_a_conflict_may_meet
    pairs = [[0, 1], [1, 2], [2, 3]]
    some = ask(kind_count: 4, kind_conflicts: pairs)
    assert_equal [4, [0, 4, 0, 4]], [some.gap_slot_count, some.kinds.map(&:id_slot_index)]
    assert_equal some, ask(kind_count: 4, kind_conflicts: pairs.each)
    all = [{}, { kind_conflicts: [] }, { kind_conflicts: [*0...4].combination(2) }]
    assert_equal [2, 2, 2], all.map { |options| ask(kind_count: 4, **options).gap_slot_count }
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
      "kind_conflicts" => { kind_conflicts: 5 }, "kind_conflicts[1]" => { kind_conflicts: [[0, 1], [0, 1, 2]] },
      "kind_conflicts[0].second_kind_index" => { kind_conflicts: [[0, "1"]] },
      "polling_delay" => { polling_delay: -1 }, "slot_job_delay" => { slot_job_delay: "1" },
      "kind_spacing" => { kind_spacing: :odd }
    }.each do |field, options|
      error = assert_raises(Offbeat::InvalidArgument, field) { ask(kind_count: 2, **options) }
      assert_equal field, error.field
    end
  end
end
