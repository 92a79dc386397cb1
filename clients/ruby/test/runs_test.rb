# frozen_string_literal: true

require_relative "helper"
require "digest"

# A run looks the same in every answer.
class RunsTest < OffbeatTest
  SCHEDULE = Offbeat::Schedule.new(period: 28_800, slot_count: 96, kinds: %w[import export])

  def test_a_run_is_the_same_in_all_answers
    ["acme/é", 42, "0190D7A2-1111-7abc-8def-0123456789ab"].each do |id|
      run = client.assign_slot(SCHEDULE, id, from_time: NOON, kind: "export").next_run
      others = [
        client.assign_slots(SCHEDULE, [id], from_time: NOON, kind: "export").first.next_run,
        client.stream_slot_assignments(SCHEDULE, [id], from_time: NOON, kind: "export").first[0].next_run,
        client.list_due_runs(SCHEDULE, [id], watermark: NOON, now_time: run.start_time + 1, kind: "export").first,
        client.list_due_runs(SCHEDULE, [id], watermark: NOON, now_time: NOON, look_ahead: 28_800, kind: "export").first,
        client.plan_migration(SCHEDULE, SCHEDULE, ids: [id], cutover_time: NOON, kind: "export").ids.first.first_new_run,
        client.plan_migration(SCHEDULE, SCHEDULE, ids: [id], cutover_time: run.start_time + 1, kind: "export").ids.first.last_old_run,
        client.assign_slot(SCHEDULE, id, from_time: run.start_time + 1, kind: "export").last_run
      ]
      assert_equal [run], others.uniq
      assert_equal [id, "export", 0, nil, false], [run.id, run.kind, run.piece_index, run.nominal_time, run.late?]
      assert_predicate run, :frozen?
    end
  end

  def test_run_ids_are_made_of_run_keys
    key = "bank-sync/1/default/61362/0/acme"
    run = client.assign_slot("bank-sync/1", "acme", from_time: Time.utc(2026)).next_run
    assert_equal [key, Digest::SHA256.hexdigest(key).slice(0, 32)], [run.run_key, run.run_id]
    assert_equal [run.run_id, ""], [Offbeat.run_id(key), Offbeat.run_id("")]
    fraction = Offbeat::Schedule.new(period: 86_400, placement: :fraction)
    nameless = [client.assign_slot(fraction, 0.5, from_time: NOON).next_run, client.assign_slots(fraction, [0.5], from_time: NOON).first.next_run,
                client.list_due_runs(fraction, [0.5], watermark: NOON - 86_400, now_time: NOON + 1).first]
    assert_equal [["", "", "default"]], nameless.map { |one| [one.run_key, one.run_id, one.kind] }.uniq
  end

  def test_pieces_have_runs_of_their_own
    weighted = Offbeat::Schedule.new(period: 28_800, slot_count: 96, weight_quantum: 10)
    pieces = client.assign_slot(weighted, "acme", weight: 35, from_time: NOON).pieces
    rows = client.assign_slots(weighted, ["acme"], weights: [35], from_time: NOON)
    assert_equal [pieces.map { |piece| piece.next_runs[0] }, [0, 1, 2, 3]], [rows.map(&:next_run), rows.map { |row| row.next_run.piece_index }]
    assert_equal rows.map(&:run_key), rows.map { |row| row.next_run.run_key }
    assert_equal 4, rows.map { |row| row.next_run.run_id }.uniq.size
  end

  # Types that ActiveJob accepts as they are. JSON has no others, and Sidekiq uses JSON.
  CARRIED = [NilClass, String, Integer, Float, TrueClass, FalseClass].freeze
  RESERVED = "_aj_" # the prefix of keys that ActiveJob reserves

  def test_jobs_carry_runs_as_arguments
    deferred = Offbeat::Schedule.new(period: 28_800, exclusions: [Offbeat::Exclusion.new(times: NOON...(NOON + 28_000))])
    daily = Offbeat::Schedule.new(period: 86_400, placement: :fraction)
    precise = client.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).next_run.to_h.merge("start_time" => "2026-03-01T12:00:00.123456789Z")
    runs = [
      client.assign_slot(SCHEDULE, "acme/é", from_time: NOON, kind: "export").next_run, client.assign_slot(daily, 0.1, from_time: NOON).next_run,
      client.assign_slots(EIGHT_HOURS, [-(2**127)], from_time: NOON).first.next_run, client.assign_slot(deferred, "bolt", from_time: NOON).next_run,
      client.list_due_runs(EIGHT_HOURS, ["acme"], watermark: NOON - 28_800, now_time: NOON).first, Offbeat::Run.from_h(precise)
    ]
    assert(runs.any?(&:nominal_time) && runs.any?(&:late?))
    runs.each do |run|
      hash = run.to_h
      assert_equal Offbeat::Run.members.map(&:to_s), hash.keys
      assert_empty hash.each_value.map(&:class) - CARRIED
      assert_empty hash.keys.select { |key| key.start_with?(RESERVED) }
      [hash, JSON.parse(JSON.generate(hash)), hash.merge("_aj_ruby2_keywords" => [])].each do |carried|
        again = Offbeat::Run.from_h(carried)
        assert_equal [run, true, run.late?], [again, again.frozen?, again.late?]
      end
    end
    assert_equal 123_456_789, runs.last.start_time.nsec
    assert_raises(KeyError) { Offbeat::Run.from_h({}) }
  end

  # The nominal, scheduled and start times of a run.
  def test_times_of_a_run
    late = client.list_due_runs(EIGHT_HOURS, ["acme"], watermark: NOON - 28_800, now_time: NOON).first
    assert_equal [true, NOON], [late.late?, late.start_time]
    assert_equal client.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).last_run.start_time, late.scheduled_time
    at_its_time = client.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).next_run.start_time
    excluded = Offbeat::Exclusion.new(times: (at_its_time - 60)...(at_its_time + 60))
    run = client.assign_slot(Offbeat::Schedule.new(period: 28_800, exclusions: [excluded]), "acme", from_time: NOON).next_run
    assert_equal [at_its_time, false], [run.nominal_time, run.late?]
    assert_operator run.scheduled_time, :>=, at_its_time + 60
    assert_equal run.scheduled_time, run.start_time
  end
end
