# frozen_string_literal: true

require_relative "helper"
require "open3"

# Modes: who decides, and the settings of a client.
class ModesTest < OffbeatTest
  NOBODY = "127.0.0.1:#{Sidecar.free_port}"
  DAILY = Offbeat::Schedule.new(calendar: Offbeat::CalendarCycle.new(unit: :day, time_zone: "Europe/Berlin"))

  def test_remote_asks_the_sidecar
    assert_equal :remote, client.mode
    assert_equal :sidecar, client.assign_slot(EIGHT_HOURS, "acme").decided_by
    assert_raises(Offbeat::Unavailable) { Offbeat::Client.new(NOBODY, timeout: 0.1).assign_slot(EIGHT_HOURS, "acme") }
  end

  def test_auto_decides_what_it_can_and_asks_for_the_rest
    auto = Offbeat::Client.new(Sidecar::SHARED.address, mode: "auto")
    assert_equal %i[local sidecar], [EIGHT_HOURS, DAILY].map { |schedule| auto.assign_slot(schedule, "acme").decided_by }
    assert_equal %i[local sidecar], [EIGHT_HOURS, DAILY].map { |schedule| auto.describe_schedule(schedule).decided_by }
    assert_equal :sidecar, auto.assign_slot("bank-sync/1", "acme").decided_by
    assert_equal auto.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).next_run, client.assign_slot(EIGHT_HOURS, "acme", from_time: NOON).next_run
    wrong = Offbeat::Schedule.new(period: 28_800, slot_count: 7)
    errors = [auto, client].map { |asked| assert_raises(Offbeat::InvalidArgument) { asked.describe_schedule(wrong) } }
    assert_equal(*errors.map { |error| [error.message, error.reason, error.field, error.value, error.allowed] })
    assert_equal %w[0.1.0 String], [Offbeat::VERSION, auto.server_info.version.class.name]
  end

  def test_auto_needs_no_sidecar_until_a_schedule_needs_one
    auto = Offbeat::Client.new(NOBODY, mode: :auto, timeout: 0.2)
    assert_equal :local, auto.assign_slot(EIGHT_HOURS, "acme").decided_by
    assert_equal [:local, 200], auto.list_due_runs(EIGHT_HOURS, 1..200, watermark: Time.now - 28_800).then { |due| [due.decided_by, due.size] }
    assert_raises(Offbeat::Unavailable) { auto.assign_slot(DAILY, "acme") }
  end

  def test_bulk_calls_go_to_the_sidecar_if_there_is_one
    [[Sidecar::SHARED.address, :sidecar], [NOBODY, :local]].each do |address, bulk|
      auto = Offbeat::Client.new(address, mode: :auto, timeout: 0.2)
      assert_equal [:local, bulk], [999, 1_000].map { |count| auto.assign_slots(EIGHT_HOURS, 1..count).decided_by }
      assert_equal [:local, bulk], [999, 1_000].map { |count| auto.assign_packed(EIGHT_HOURS, integers: (1..count).to_a.pack("q<*")).decided_by }
      assert_equal [:local, bulk], [999, 1_000].map { |count| auto.assign_packed(EIGHT_HOURS, uuids: "u" * 16 * count).decided_by }
      assert_equal [:local, bulk], [999, 1_000].map { |count| auto.list_due_runs(EIGHT_HOURS, 1..count, watermark: NOON, now_time: NOON).decided_by }
      assert_equal [bulk, :local], auto.stream_slot_assignments(EIGHT_HOURS, 1..8_200).map(&:decided_by)
      assert_equal :local, auto.assign_slots(EIGHT_HOURS, []).decided_by
    end
    assert_equal :local, Offbeat::Client.new(mode: :local).assign_slots(EIGHT_HOURS, 1..2_000).decided_by
  end

  # A client decides bulk calls itself if it can, without waiting for a sidecar. It refuses invalid
  # schedules as the sidecar does, and leaves to the sidecar what it cannot decide.
  def test_bulk_calls_are_not_held_up
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_equal :local, Offbeat::Client.new(NOBODY, mode: :auto).assign_slots(EIGHT_HOURS, 1..1_000).decided_by
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :<, 0.5
    wrong = Offbeat::Schedule.new(period: 28_800, slot_count: 7)
    errors = [client, Offbeat::Client.new(Sidecar::SHARED.address, mode: :auto)].map do |asked|
      assert_raises(Offbeat::InvalidArgument) { asked.assign_slots(wrong, 1..1_000) }.message
    end
    assert_equal(*errors)
    Dir.mktmpdir do |folder|
      File.write(file = File.join(folder, "schedules.json"), Offbeat::V1::ListSchedulesResponse.encode_json(daily))
      auto = Offbeat::Client.new(Sidecar::SHARED.address, mode: :auto, schedules: file)
      assert_equal :local, auto.assign_slots("daily/1", 1..1_000).decided_by # unknown to the sidecar
    end
    days = Offbeat::Client.new(Sidecar::SHARED.address, mode: :auto).assign_slots(DAILY, 1..1_000)
    assert_equal [:sidecar, 1_000], [days.decided_by, days.size]
    assert_raises(Offbeat::Unavailable) { Offbeat::Client.new(NOBODY, mode: :auto, timeout: 0.1).assign_slots(DAILY, 1..1_000) }
  end

  def test_now_is_the_clock_of_this_process
    time = Time.utc(2030, 5, 5)
    local = Offbeat::Client.new(mode: :local, clock: -> { time })
    run = local.assign_slot(EIGHT_HOURS, "acme").next_run
    assert_equal run, local.assign_slot(EIGHT_HOURS, "acme", from_time: time).next_run
    assert_equal time, local.list_slots(EIGHT_HOURS).first.start_time
    time = run.start_time + 0.000000001r
    assert_equal run.start_time + 28_800, local.assign_slot(EIGHT_HOURS, "acme").next_run.start_time
  end

  def test_settings_that_are_none_are_refused
    { "mode" => { mode: "locally" }, "timeout" => { timeout: "weekend" }, "breaker" => { breaker: 5 }, "schedules" => { mode: :local, schedules: 5 },
      "address" => { mode: :local, address: "nowhere" } }.each do |field, settings|
      error = assert_raises(Offbeat::InvalidArgument, field) { Offbeat::Client.new(**settings) }
      assert_equal field, error.field
    end
    { "breaker.failure_count" => { failure_count: 0 }, "breaker.open_duration" => { open_duration: -1 },
      "breaker.max_open_duration" => { max_open_duration: "1" } }.each do |field, settings|
      assert_equal field, assert_raises(Offbeat::InvalidArgument) { Offbeat::Breaker.new(**settings) }.field
    end
  end

  def test_words_for_timeouts
    assert_equal [0.3, 0.3, 10.0, 10.0, 2.5], [:web, "web", :worker, nil, 2.5].map { |timeout| Offbeat::Client.new(timeout: timeout).timeout }
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_raises(Offbeat::Unavailable) { Offbeat::Client.new(NOBODY).describe_schedule(EIGHT_HOURS, timeout: :web) }
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :<, 0.5
  end

  def test_settings_by_variables_and_block
    code = 'require "offbeat"; c = Offbeat::Client.new; p c.mode, c.timeout, c.assign_slot("daily/1", "acme").decided_by; ' \
           "Offbeat.configure { |config| config.mode, config.timeout, config.breaker, config.schedules = :auto, 3, Offbeat::Breaker.new, nil }; " \
           "c = Offbeat::Client.new; p c.mode, c.timeout; p Offbeat::Client.new(mode: :remote).mode"
    Dir.mktmpdir do |folder|
      File.write(file = File.join(folder, "schedules.json"), Offbeat::V1::ListSchedulesResponse.encode_json(daily))
      assert_equal [":local", "0.3", ":local", ":auto", "3.0", ":remote"],
                   run_with({ "OFFBEAT_MODE" => "local", "OFFBEAT_TIMEOUT" => "web", "OFFBEAT_SCHEDULES" => file }, code).lines.map(&:chomp)
    end
    { "OFFBEAT_MODE" => "both", "OFFBEAT_TIMEOUT" => "soon" }.each do |name, value|
      assert_match(/#{name}: "#{value}" is refused: must be/, run_with({ name => value }, 'require "offbeat"; Offbeat::Client.new'))
    end
  end

  def daily
    described = Offbeat::V1::DescribeScheduleRequest.new(schedule: Offbeat::Schedule.new(period: 86_400).to_message)
    answer = client.send(:call, "DescribeSchedule", described, Offbeat::V1::DescribeScheduleResponse, nil)
    listed = Offbeat::V1::ListedSchedule.new(reference: Offbeat::V1::ScheduleReference.new(name: "daily", version: 1),
                                             identity: answer.identity, spec: answer.spec)
    Offbeat::V1::ListSchedulesResponse.new(schedules: [listed])
  end

  def run_with(variables, code)
    Open3.capture2e(variables, RbConfig.ruby, "-W0", "-I#{ROOT}/clients/ruby/lib", "-e", code).first
  end
end
