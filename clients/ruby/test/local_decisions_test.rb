# frozen_string_literal: true

require_relative "helper"
require_relative "golden"

# The golden decisions without a sidecar, and the requests that need one.
class LocalDecisionsTest < OffbeatTest
  include Golden

  def local
    @local ||= Offbeat::Client.new(mode: :local)
  end

  def ask(method, request)
    message = message_type(method, "Request").decode_json(JSON.generate(request))
    local.send(:ask, method, message, message_type(method, "Response"), nil, service: SERVICES.fetch(method)).message
  end

  # Whether a case of a method that clients decide still needs a sidecar.
  def takes_a_sidecar?(golden)
    request = golden["request"]
    return true unless %w[AssignSlot AssignSlots DescribeSchedule ListSlots GetWindowPredicate ListDueRuns RouteJob].include?(golden["method"])

    spec = request.dig("schedule", "spec") || {}
    %w[calendar activeWindows exclusions weightQuantum kindConflicts].any? { |name| spec.key?(name) } ||
      %w[weight weights newId timeZone timeZones population].any? { |name| request.key?(name) } ||
      request.dig("schedule", "reference") || request["ids"]&.key?("timeZones") || request["ids"]&.key?("timeZoneIndexes") ||
      request.dig("catchUpPolicy", "missedRunPolicy") == "MISSED_RUN_POLICY_RUN_ALL" ||
      (spec["placement"] == "PLACEMENT_TWISTER" && spec.fetch("profile", "TWISTER_PROFILE_RUBY") != native) ||
      (request["sqlTarget"] && %w[PLACEMENT_FRACTION PLACEMENT_TWISTER].include?(spec["placement"]))
  end

  def native
    RUBY_VERSION.start_with?("3.0", "3.1") ? "TWISTER_PROFILE_RUBY_3_0_TO_3_1" : "TWISTER_PROFILE_RUBY"
  end

  def test_golden_answers_are_decided_here_or_left_to_a_sidecar
    decided = decisions("response").count do |golden|
      next assert_raises(Offbeat::NeedsSidecar, golden["request"].to_s) { ask(golden["method"], golden["request"]) } && false if takes_a_sidecar?(golden)

      assert_golden_answer(golden, ask(golden["method"], golden["request"]))
      true
    end
    assert_operator decided, :>=, 320
  end

  def test_golden_refusals_are_those_of_the_sidecar
    refused = decisions("reason").reject { |refusal| refusal["json_only"] }
    decided = refused.count do |refusal|
      ask(refusal["method"], filled(refusal))
      flunk("#{refusal["name"]} is answered")
    rescue Offbeat::NeedsSidecar
      assert takes_a_sidecar?(refusal), refusal["name"]
      false
    rescue Offbeat::Error => e
      assert_golden_refusal(refusal, e)
      true
    end
    assert_operator decided, :>=, 145
  end

  # The languages themselves made these vectors, for both of Ruby's ways of seeding.
  def test_the_twister_of_this_very_ruby_is_drawn
    cases = vectors(native.end_with?("3_1") ? "ruby_3_1_random.json" : "ruby_3_4_random.json")["cases"]
    profile = Offbeat::Schedule::PROFILES.key(native.to_sym)
    limits = cases.filter_map do |one|
      seed, limit = Integer(one["seed"]), Integer(one["limit"])
      next if limit > 316_224_000_000 || seed.abs >= 2**128

      schedule = Offbeat::Schedule.new(period: limit / 1_000r, resolution: 1 / 1_000r, slot_count: 1, placement: :twister, profile: profile)
      assert_equal Integer(one["first"]) / 1_000r, local.assign_slot(schedule, seed).slot_offset, one.to_s
      limit
    end
    assert_operator limits.size, :>, 500
    assert_operator limits.max, :>, 2**32 if profile == :ruby_3_0_to_3_1
  end

  def test_the_other_profiles_take_a_sidecar
    native_profile = Offbeat::Schedule::PROFILES.key(native.to_sym)
    Offbeat::Schedule::PROFILES.each_key do |profile|
      schedule = Offbeat::Schedule.new(period: 3_600, placement: :twister, profile: profile)
      assert_equal profile == native_profile, local.decides_locally?(schedule), profile
    end
    srand(5)
    expected = [rand(1_000), rand(1_000)]
    srand(5)
    first = rand(1_000)
    local.assign_slot(Offbeat::Schedule.new(period: 3_600, placement: :twister, profile: native_profile), 42)
    assert_equal expected, [first, rand(1_000)], "the global generator was touched"
  end

  def test_a_declaration_can_be_checked_at_start
    berlin = Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin")
    schedules = {
      Offbeat::Schedule.new(calendar: berlin) => "a calendar cycle needs a sidecar: clients decide elapsed periods alone",
      Offbeat::Schedule.new(period: 3_600, active_windows: [0...60]) => "active windows need a sidecar",
      Offbeat::Schedule.new(period: 3_600, weight_quantum: 5) => "weights need a sidecar",
      Offbeat::Schedule.new(period: 3_600, exclusions: [Offbeat::Exclusion.new(times: NOON...NOON + 60)]) => "exclusions need a sidecar",
      Offbeat::Schedule.new(period: 3_600, kinds: %w[a b], kind_conflicts: [%w[a b]]) => "kind conflicts need a sidecar",
      "bank-sync/1" => "a schedule by name needs a sidecar, or a file of schedules"
    }
    schedules.each do |schedule, words|
      assert_includes local.local_refusal(schedule), words
      assert_includes Offbeat::Client.new.local_refusal(schedule), words
      assert_includes assert_raises(Offbeat::NeedsSidecar) { local.assign_slot(schedule, "acme") }.message, words
    end
    kinds = Offbeat::Schedule.new(period: 3_600, kinds: [Offbeat::Kind.new(name: "a", run_time: 60), Offbeat::Kind.new(name: "b", run_time: 5)])
    [EIGHT_HOURS, kinds, Offbeat::Schedule.new(period: 3_600, placement: :fraction)].each { |schedule| assert_nil local.local_refusal(schedule) }
    assert_equal "schedule.spec.slot_count",
                 assert_raises(Offbeat::InvalidArgument) { local.local_refusal(Offbeat::Schedule.new(period: 60, slot_count: 7)) }.field
  end

  def test_what_no_client_decides_takes_a_sidecar
    lanes = Offbeat::LaneSet.new(lanes: [Offbeat::Lane.new(name: "a", worker_count: 1, attempt_timeout: 5), Offbeat::Lane.new(name: "b", worker_count: 1)])
    assert_equal "a", local.route_job(lanes).lane_name
    [-> { local.spread([[1]], feeder_count: 1).to_a }, -> { local.named_spread("mail", feeder_count: 1).open },
     -> { local.list_spreads.to_a }, -> { local.server_info }, -> { local.audit_ids(EIGHT_HOURS, ["a"]) },
     -> { local.plan_migration(EIGHT_HOURS, EIGHT_HOURS) }, -> { local.reciprocal_slots(EIGHT_HOURS, kind_count: 2) },
     -> { local.split_workers(lanes, []) }, -> { local.list_schedules }, -> { local.record_lateness("a", [1]) },
     -> { local.describe_schedule(EIGHT_HOURS, population: 5) }].each do |question|
      assert_match(/ needs? a sidecar/, assert_raises(Offbeat::NeedsSidecar, &question).message)
    end
    assert_operator Offbeat::NeedsSidecar, :<, Offbeat::Error
    assert_equal "local", local.address
    local.close
  end

  def test_a_shard_is_a_slot
    { 1 => "", 16 => "", 1_048_576 => "tenants" }.each do |count, salt|
      schedule = Offbeat::Schedule.new(period: count, slot_count: count, salt: salt)
      ["acme", 42, "0190D7A2-1111-7abc-8def-0123456789ab", -(2**100)].each do |id|
        assert_equal client.assign_slot(schedule, id).slot_index, Offbeat.shard(id, count, salt: salt)
      end
    end
    { "shard_count" => -> { Offbeat.shard("a", 0) }, "salt" => -> { Offbeat.shard("a", 1, salt: "x" * 257) },
      "id" => -> { Offbeat.shard("x" * 1_025, 1) }, "id_type" => -> { Offbeat.shard("x", 1, id_type: :other) } }.each do |field, wrong|
      assert_equal field, assert_raises(Offbeat::InvalidArgument, &wrong).field
    end
    assert_raises(Offbeat::InvalidArgument) { Offbeat.shard("a", 1 << 21) }
    assert_raises(Offbeat::InvalidArgument) { Offbeat.shard("a", 1.5) }
  end

  # Client and sidecar must have the same limits.
  def test_limits_are_those_of_the_sidecar
    known = Offbeat.const_get(:Local)
    limits = client.server_info.limits.to_h { |limit| [limit.id.upcase, limit] }
    renamed = { PERIOD_MILLIS: "PERIOD" }
    names = known.constants.select { |name| known.const_get(name).instance_of?(known::Limit) }
    assert_operator names.size, :>, 25
    names.each do |name|
      limit = limits.fetch(renamed.fetch(name, name).to_s)
      assert_equal [limit.min_value, limit.max_value], known.const_get(name).range.minmax, name
      assert_equal "#{limit.min_value} to #{limit.max_value} #{limit.unit}".rstrip, known.const_get(name).to_s, name
    end
    assert_equal limits["DETAILED_ERRORS"].max_value, known::DETAILED_ERRORS
    assert_equal limits["CATCH_UP_HORIZON"].max_value, known::HORIZON_MILLIS
  end

  def test_threads_share_a_client_and_what_was_checked_is_forgotten
    schedules = Array.new(400) { |number| Offbeat::Schedule.new(period: 3_600, salt: number.to_s) }
    expected = schedules.map { |schedule| client.assign_slot(schedule, "acme", from_time: NOON).next_run }
    threads = Array.new(6) { Thread.new { schedules.map { |schedule| local.assign_slot(schedule, "acme", from_time: NOON).next_run } } }
    threads.each { |thread| assert_equal expected, thread.value }
    remembered = local.instance_variable_get(:@decisions).instance_variable_get(:@decider).instance_variable_get(:@checked).size
    assert_includes 200..256, remembered
  end
end
