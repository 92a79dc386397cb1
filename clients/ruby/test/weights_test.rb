# frozen_string_literal: true

require_relative "helper"

# Weighted IDs, which run in pieces, and new IDs.
class WeightsTest < OffbeatTest
  WEIGHTED = Offbeat::Schedule.new(period: 28_800, slot_count: 128, weight_quantum: 10)

  # Seconds since the start of a cycle of WEIGHTED at which the pieces of a hash run.
  def places(hash, count)
    Array.new(count) do |piece|
      reversed = piece.to_s(2).rjust(64, "0").reverse.to_i(2)
      ((hash + reversed) % (2**64)) * 28_800 >> 64
    end
  end

  def test_pieces_stand_where_the_bits_say
    { nil => 1, 0 => 1, 10 => 1, 11 => 2, 75 => 8, 1_281 => 128 }.each do |weight, count|
      acme = client.assign_slot(WEIGHTED, "acme", from_time: NOON, weight: weight, kind: "poll")
      assert_equal [*0...count], acme.pieces.map(&:piece_index)
      assert_equal places(acme.explanation.value.hex, count), acme.pieces.map(&:cycle_offset)
      assert_equal ["acme", :hash], [acme.explanation.canonical_id, acme.explanation.rule]
      first = acme.pieces.first
      assert_equal [first.slot_index, first.slot_offset, first.cycle_offset, first.last_run, first.next_runs, first.next_runs.first],
                   [acme.slot_index, acme.slot_offset, acme.cycle_offset, acme.last_run, acme.next_runs, acme.next_run]
      acme.pieces.each do |piece|
        run = piece.next_runs.first
        assert_equal "#{acme.fingerprint}/poll/#{run.cycle_index}/#{piece.piece_index}/acme", run.run_key
        assert_equal piece.cycle_offset, run.start_time.to_i % 28_800
        assert_equal 28_800, run.start_time - piece.last_run.start_time
      end
    end
  end

  def test_a_batch_has_a_row_for_each_piece
    weights = { "a" => 1, "b" => 35, "c" => 0, "d/e" => 11 }
    rows = client.assign_slots(WEIGHTED, weights.keys, weights: weights.each_value, from_time: NOON)
    assert_equal [8, weights.keys], [rows.size, rows.ids]
    assert_equal [0, 1, 1, 1, 1, 2, 3, 3], rows.id_indexes
    assert_equal [0, 0, 1, 2, 3, 0, 0, 1], rows.piece_indexes
    assert_equal %w[a b b b b c d/e d/e], rows.map(&:id)
    alone = weights.flat_map do |id, weight|
      pieces = client.assign_slot(WEIGHTED, id, weight: weight, from_time: NOON).pieces
      pieces.map { |piece| [piece.piece_index, piece.slot_index, piece.next_runs[0].run_key] }
    end
    assert_equal alone, rows.map { |row| [row.piece_index, row.slot_index, row.run_key] }
    plain = client.assign_slots(WEIGHTED, weights.keys, from_time: NOON)
    assert_equal [[0, 1, 2, 3], [0, 0, 0, 0]], [plain.id_indexes, plain.piece_indexes]
  end

  # A message holds 65,536 pieces; more of them take several messages.
  def test_any_number_of_pieces
    ids = Array.new(3_000) { |number| "tenant #{number}" }
    weights = ids.each_index.map { |number| number % 700 }
    counts = weights.map { |weight| [(weight / 10.0).ceil, 1].max }
    assert_operator counts.sum, :>, 65_536
    rows = client.assign_slots(WEIGHTED, ids, weights: weights, from_time: NOON)
    assert_equal counts.each_with_index.flat_map { |count, id| [id] * count }, rows.id_indexes
    assert_equal counts.flat_map { |count| [*0...count] }, rows.piece_indexes
    last = client.assign_slot(WEIGHTED, ids.last, weight: weights.last, from_time: NOON)
    assert_equal last.pieces.last.next_runs[0].run_key, rows.run_key(rows.size - 1)
    streamed = client.stream_slot_assignments(WEIGHTED, ids, weights: weights, from_time: NOON).to_a
    assert_operator streamed.size, :>, 1
    assert_equal rows.map(&:run_key), streamed.flat_map { |batch| batch.map(&:run_key) }
    assert_equal ids.size, streamed.last.first_id_index + streamed.last.ids.size
  end

  def test_refused_ids_among_pieces
    ids = ["a", "x" * 1_025, "b"]
    rows = client.assign_slots(WEIGHTED, ids, weights: [20, 20, 20], from_time: NOON, return_errors: true)
    assert_equal [[0, 0, 1, 2, 2], [1]], [rows.id_indexes, rows.errors.map(&:id_index)]
    assert_equal %w[a a b b], rows.accepted.map(&:id)
    assert_match(/ids\[1\]/, assert_raises(KeyError) { rows[2] }.message)
    # In the second message of a stream, rows are numbered over the whole stream.
    many = [*Array.new(8_192, "a"), *ids]
    last = client.stream_slot_assignments(WEIGHTED, many, weights: [20] * many.size, from_time: NOON).to_a.last
    assert_equal [8_193, "ids[8193]", 8_192], [last.errors[0].id_index, last.errors[0].field, last.first_id_index]
    assert_match(/ids\[8193\]/, assert_raises(KeyError) { last[2] }.message)
    # In the second message of a call, because there are 76,800 pieces.
    error = assert_raises(Offbeat::BadIds) { client.assign_slots(WEIGHTED, [*Array.new(600, "a"), *ids], weights: [1_280] * 603) }
    assert_equal [601], error.errors.map(&:id_index)
  end

  def test_weights_that_cannot_be_are_refused
    ask = ->(weights, schedule: WEIGHTED) { client.assign_slots(schedule, %w[a b], weights: weights, from_time: NOON) }
    { [[1]] => "weights", [[1, 2, 3]] => "weights", [[1, -2]] => "weights[1]", [[1.5, 2]] => "weights[0]", [7] => "weights",
      [[1, 2**53 + 1]] => "weights[1]" }.each do |(weights), field|
      assert_equal field, assert_raises(Offbeat::InvalidArgument, weights.to_s) { ask.call(weights) }.field
    end
    without = assert_raises(Offbeat::InvalidArgument) { ask.call([1, 2], schedule: EIGHT_HOURS) }
    assert_equal %w[ERROR_REASON_CONTRADICTORY weights[0]], [without.reason, without.field]
    alone = assert_raises(Offbeat::InvalidArgument) { client.assign_slot(EIGHT_HOURS, "a", weight: 1) }
    assert_equal "weight", alone.field
  end

  def test_new_ids_run_once_in_their_first_cycle
    ids = Array.new(40) { |number| "new #{number}" }
    created = NOON + 8 * 3600 + 10_000 # in the middle of a cycle
    firsts = ids.map do |id|
      plain = client.assign_slot(EIGHT_HOURS, id, from_time: created).next_run
      cycle = client.assign_slot(EIGHT_HOURS, id, from_time: created, new_id: new_id(created)).first_run
      smeared = client.assign_slot(EIGHT_HOURS, id, from_time: created, new_id: new_id(created, :now_smeared, 600)).first_run
      assert_equal plain, cycle
      assert_operator smeared.start_time - created, :<, 600 unless smeared == plain
      assert_operator smeared.start_time, :<=, plain.start_time
      assert_equal smeared.nominal_time.nil?, smeared == plain
      smeared
    end
    assert_operator firsts.count(&:nominal_time), :>, 5
    assert_nil client.assign_slot(EIGHT_HOURS, "new 1").first_run
  end

  def new_id(created, policy = nil, span = nil)
    Offbeat::NewId.new(create_time: created, policy: policy, smear_span: span)
  end

  def test_new_ids_that_cannot_be_are_refused
    { new_id("yesterday") => "new_id.create_time", new_id(NOON, :soon) => "new_id.policy",
      new_id(NOON, :now_smeared) => "new_id.smear_span", new_id(NOON, nil, 5) => "new_id.smear_span",
      new_id(NOON + 61) => "new_id.create_time", { create_time: NOON } => "new_id" }.each do |new, field|
      error = assert_raises(Offbeat::InvalidArgument, field) { client.assign_slot(EIGHT_HOURS, "a", from_time: NOON, new_id: new) }
      assert_equal field, error.field
    end
  end

  # From a machine whose clock is fast.
  def test_new_ids_from_the_future
    ahead = ->(skew) { Offbeat::NewId.new(create_time: NOON + 61, max_clock_skew: skew) }
    ask = ->(new) { client.assign_slot(EIGHT_HOURS, "a", from_time: NOON, new_id: new).first_run }
    plain = client.assign_slot(EIGHT_HOURS, "a", from_time: NOON + 61).next_run
    assert_equal [plain, plain], [ask.call(ahead.call(61)), ask.call(ahead.call(28_800))]
    { "new_id.create_time" => [60, nil, 0], "new_id.max_clock_skew" => [28_801, -1, "1m"] }.each do |field, skews|
      skews.each { |skew| assert_equal field, assert_raises(Offbeat::InvalidArgument) { ask.call(ahead.call(skew)) }.field }
    end
  end
end
