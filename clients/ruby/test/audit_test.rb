# frozen_string_literal: true

require_relative "helper"

# How evenly IDs fill the slots.
class AuditTest < OffbeatTest
  SLOTS = Offbeat::Schedule.new(period: 28_800, slot_count: 16, weight_quantum: 10)

  def test_even_ids_fill_slots_as_chance_does
    ids = Array.new(4_000) { |number| "customer #{number}" }
    audit = client.audit_ids(SLOTS, ids.each)
    loads = client.assign_slots(SLOTS, ids, from_time: NOON).slot_indexes.tally
    assert_equal Array.new(16) { |slot| loads.fetch(slot, 0) }, audit.slot_loads
    assert_equal [4_000, loads.values.max, loads.values.max / 250.0],
                 [audit.id_count, audit.fullest_load, audit.fullest_to_mean_ratio]
    assert_equal audit.fullest_load, audit.slot_loads[audit.fullest_slot_index]
    assert_in_delta audit.slot_loads.sum { |load| (load - 250)**2 / 250 }, audit.chi_square
    assert_operator audit.p_value, :>, 0.001
    assert_equal 250.0, audit.expected_load.mean
    assert_operator audit.expected_load.fullest_p99, :>, audit.expected_load.fullest_median
    assert_equal [0, [], []], [audit.empty_slot_count, audit.warnings, audit.errors]
    assert_equal client.describe_schedule(SLOTS).fingerprint, audit.fingerprint
  end

  def test_what_is_wrong_is_said
    twister = Offbeat::Schedule.new(period: 28_800, slot_count: 16, placement: :twister)
    sparse = client.audit_ids(twister, (0...1_000).map { |number| number * 256 })
    assert_includes sparse.warnings.map(&:finding), :sparse_integers
    assert_equal [15, 1_000.0], [sparse.empty_slot_count, sparse.fullest_load]
    assert sparse.warnings.all? { |warning| warning.message.size > 20 }
    few = client.audit_ids(SLOTS, %w[a a b])
    assert_nil few.p_value
    assert_includes few.warnings.map(&:finding), :duplicates
  end

  def test_weights_are_the_loads
    ids = Array.new(300) { |number| "customer #{number}" }
    weights = ids.each_index.map { |number| number % 25 }
    audit = client.audit_ids(SLOTS, ids, weights: weights)
    assert_in_delta weights.sum, audit.slot_loads.sum
    heavy = client.audit_ids(SLOTS, ids, weights: [100_000, *[1] * 299])
    assert_operator heavy.slot_loads.min, :>=, 6_250
  end

  def test_the_slots_are_those_of_the_kind
    kinds = Offbeat::Schedule.new(period: 28_800, slot_count: 16, kinds: %w[import export])
    ids = Array.new(100) { |number| "customer #{number}" }
    import, export = %w[import export].map { |kind| client.audit_ids(kinds, ids, kind: kind).slot_loads }
    assert_equal import.rotate(-8), export
    slots = client.assign_slots(kinds, ids, from_time: NOON, kind: "export").slot_indexes.tally
    assert_equal Array.new(16) { |slot| slots.fetch(slot, 0) }, export
  end

  def test_refused_ids_and_questions
    error = assert_raises(Offbeat::BadIds) { client.audit_ids(SLOTS, ["a", "x" * 1_025]) }
    assert_equal [[1], 1], [error.errors.map(&:id_index), error.answer.id_count]
    assert_equal 1, client.audit_ids(SLOTS, ["a", "x" * 1_025], return_errors: true).errors.size
    { "ids" => [[]], "ids[1]" => [["a", 1]], "weights" => [%w[a], { weights: [1, 2] }] }.each do |field, (ids, options)|
      assert_equal field, assert_raises(Offbeat::InvalidArgument) { client.audit_ids(SLOTS, ids, **options.to_h) }.field
    end
    assert_match(/\Aids/, assert_raises(Offbeat::InvalidArgument) { client.audit_ids(SLOTS, 0...65_537) }.field)
    assert_equal 65_536, client.audit_ids(SLOTS, 0...65_536).id_count
  end
end
