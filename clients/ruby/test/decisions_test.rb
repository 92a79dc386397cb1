# frozen_string_literal: true

require_relative "helper"
require_relative "golden"
require "digest"

# Decisions against golden answers, and against what Ruby itself computes.
class DecisionsTest < OffbeatTest
  include Golden

  def ask(method, request)
    transport = Offbeat::Transport.new(Sidecar::SHARED.address)
    message = message_type(method, "Request").decode_json(JSON.generate(request))
    bytes = transport.call(method, message.class.encode(message), 10, service: SERVICES.fetch(method))
    message_type(method, "Response").decode(bytes)
  end

  def test_golden_answers
    cases = decisions("response")
    assert_operator cases.size, :>, 250
    cases.each { |golden| assert_golden_answer(golden, ask(golden["method"], golden["request"])) }
  end

  def test_refusals_become_errors
    # Some mistakes can be made only in JSON, and not in messages.
    refused = decisions("reason").reject { |refusal| refusal["json_only"] }
    assert_operator refused.size, :>, 90
    refused.each do |refusal|
      error = assert_raises(Offbeat::Error, refusal["name"]) { ask(refusal["method"], filled(refusal)) }
      assert_golden_refusal(refusal, error)
    end
  end

  def test_hash_equals_digest
    ids = Array.new(500) { |number| "tenant #{number} ✓" }
    schedule = Offbeat::Schedule.new(period: 86_400, slot_count: 96, salt: "é")
    client.assign_slots(schedule, ids, from_time: NOON).each do |row|
      hash = Digest::MD5.digest("é#{row.id}").unpack1("Q>")
      assert_equal [hash * 96 >> 64, hash * 86_400 >> 64], [row.slot_index, row.cycle_offset]
      assert_equal row.cycle_offset - (row.slot_index * 900), row.slot_offset
    end
  end

  def test_twister_equals_this_very_interpreter
    old = RUBY_VERSION.start_with?("3.0", "3.1")
    schedule = Offbeat::Schedule.new(period: 8 * 3600, slot_count: 15, placement: :twister,
                                     profile: old ? :ruby_3_0_to_3_1 : :ruby)
    random = Random.new(1)
    seeds = Array.new(2_000) { random.rand(2**[8, 31, 33, 64, 128].sample(random: random)) * [1, -1].sample(random: random) }
    client.assign_slots(schedule, seeds, from_time: NOON).each do |row|
      assert_equal (row.id % 256) * 15 / 256, row.slot_index
      assert_equal Random.new(row.id).rand(1_920), row.slot_offset, row.id.to_s
    end
    assert_equal [17, 18, 18 * 15 / 256.0], client.describe_schedule(schedule).bucket_share.to_a
  end

  def test_one_id_is_assigned_as_in_a_batch
    schedule = Offbeat::Schedule.new(period: 28_800, resolution: 1/100r, anchor_time: NOON)
    ["0190D7A2-1111-7abc-8def-0123456789ab", 42, -42, 2**127, "acme", ""].each do |id|
      one = client.assign_slot(schedule, id, from_time: NOON, next_run_count: 3, kind: "sync")
      row = client.assign_slots(schedule, [id], from_time: NOON, kind: "sync")[0]
      assert_equal [one.slot_index, one.slot_offset, one.cycle_offset], [row.slot_index, row.slot_offset, row.cycle_offset]
      assert_equal [one.next_run.start_time, one.next_run.run_key], [row.next_run_time, row.run_key]
      assert_equal "#{one.fingerprint}/sync/0/0/#{id.to_s.downcase}", row.run_key
      assert_equal NOON + row.cycle_offset, row.next_run_time
      assert_equal [-1, 0, 1, 2], [one.last_run, *one.next_runs].map(&:cycle_index)
    end
  end

  def test_strings_are_what_id_type_says
    unhyphenated = "0190d7a211117abc8def0123456789ab"
    uuid = client.assign_slot(EIGHT_HOURS, "0190d7a2-1111-7abc-8def-0123456789ab", from_time: NOON)
    digits, text = [:uuid, nil].map { |type| client.assign_slot(EIGHT_HOURS, unhyphenated, id_type: type, from_time: NOON) }
    assert_equal [uuid.next_run.run_key, uuid.next_run.start_time], [digits.next_run.run_key, digits.next_run.start_time]
    refute_equal uuid.next_run.start_time, text.next_run.start_time
    integer = client.assign_slots(EIGHT_HOURS, ["-7"], id_type: :integer, from_time: NOON)[0]
    assert_equal client.assign_slot(EIGHT_HOURS, -7, from_time: NOON).next_run.run_key, integer.run_key
  end

  def test_fractions_have_places_and_no_run_key
    schedule = Offbeat::Schedule.new(period: 86_400, placement: :fraction)
    rows = client.assign_slots(schedule, [0.2, 0.45, 0.77, 0.84], from_time: NOON)
    assert_equal [17_280, 38_880, 66_528, 72_576], rows.map(&:cycle_offset)
    assert_equal [""], rows.map(&:run_key).uniq
  end

  def test_kinds_never_meet
    base = Offbeat::Schedule.new(period: 28_800, slot_count: 8, anchor_time: NOON)
    placed = client.reciprocal_slots(base, kind_count: 3)
    assert_equal [[0, 2, 5], [0, 6, 3]], [placed.kinds.map(&:id_slot_index), placed.kinds.map(&:clock_slot_index)]
    kinds = %w[a b c]
    declared = Offbeat::Schedule.new(**base.to_h, kinds: kinds)
    runs = kinds.map { |kind| client.assign_slots(declared, 0..200, from_time: NOON, kind: kind).map(&:next_run_time) }
    runs.transpose.each do |times|
      around = times.map { |time| time.to_i % 28_800 }.sort
      gaps = around.each_cons(2).map { |a, b| b - a } << (around.first + 28_800 - around.last)
      assert_equal placed.gap, gaps.min
    end
  end

  def test_descriptions_and_lists
    schedule = Offbeat::Schedule.new(period: 28_800, slot_count: 4)
    described = client.describe_schedule(schedule, at_time: NOON, population: 1_000)
    assert_equal Digest::SHA256.hexdigest(described.canonical_text), described.fingerprint
    assert_equal [7_200, 250.0, 2], [described.slot_duration, described.slot_load.mean, described.slot.slot_index]
    slots = client.list_slots(schedule, start_time: NOON, end_time: NOON + 28_800)
    assert_equal [2, 3, 0, 1], slots.map(&:slot_index)
    assert_equal described.slot, slots.first
  end

  def test_any_number_of_ids_of_any_length
    ids = Array.new(70_000) { |number| "#{number}#{"x" * (number % 900)}" }
    rows = client.assign_slots(EIGHT_HOURS, ids, from_time: NOON)
    assert_equal ids, rows.ids
    [0, 65_535, 65_536, 69_999].each do |index|
      assert_equal Digest::MD5.digest(ids[index]).unpack1("Q>") * 28_800 >> 64, rows.cycle_offset_ticks[index]
    end
  end

  def test_streams_are_lazy
    made = 0
    ids = Enumerator.new { |yielder| loop { yielder << (made += 1) } }
    answers = client.stream_slot_assignments(EIGHT_HOURS, ids.lazy, from_time: NOON)
    assert_equal 0, made
    first, second = answers.first(2)
    assert_operator made, :<, 100_000
    assert_equal [1, 8_193], [first.ids.first, second.ids.first]
    assert_equal 8_192, second.first_id_index
  end
end
