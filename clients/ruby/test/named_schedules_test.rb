# frozen_string_literal: true

require_relative "helper"
require "pathname"

# Schedules by name from a file, in clients without a sidecar.
class NamedSchedulesTest < OffbeatTest
  def setup
    @folder = Dir.mktmpdir
    @file = File.join(@folder, "schedules.json")
  end

  def teardown
    FileUtils.rm_rf(@folder)
  end

  # The output of `offbeat schedules export` for the file that the sidecar has loaded.
  def exported
    @exported ||= IO.popen([BINARY, "schedules", "export", File.join(__dir__, "schedules.toml")], &:read)
  end

  # Writes the file, changed by the block, with a modification time that differs from the last one.
  def write(content = nil)
    content ||= JSON.parse(exported)
    yield content if block_given?
    File.write("#{@file}.new", content.is_a?(String) ? content : JSON.generate(content))
    File.rename("#{@file}.new", @file)
    @time = (@time || Time.now) + 1
    File.utime(@time, @time, @file)
    @file
  end

  def local(**options)
    Offbeat::Client.new(mode: :local, schedules: write, **options)
  end

  def test_names_mean_what_they_mean_to_the_sidecar
    here = local
    { "bank-sync/1" => nil, "accounts/1" => "import" }.each do |name, kind|
      assert_nil here.local_refusal(name)
      rows = [here, client].map { |asked| asked.assign_slots(name, %w[acme bolt], from_time: NOON, kind: kind) }
      assert_equal rows[1].to_a, rows[0].to_a
      assert_equal rows[1].fingerprint, rows[0].fingerprint
      assert_equal %i[local sidecar], rows.map(&:decided_by)
      described = [here, client].map { |asked| asked.describe_schedule(Offbeat::ScheduleReference.parse(name), at_time: NOON).to_h.except(:decided_by) }
      assert_equal(*described)
    end
    assert_equal "bank-sync/1/default/61541/0/acme", here.assign_slot("bank-sync/1", "acme", from_time: NOON).next_run.run_key
  end

  def test_the_file_may_be_written_as_it_is
    File.write(@file, exported)
    assert_equal :local, Offbeat::Client.new(mode: :local, schedules: Pathname(@file)).assign_slot("bank-sync/1", "acme").decided_by
  end

  def test_a_name_that_the_file_does_not_hold
    error = assert_raises(Offbeat::NotFound) { local.assign_slot("bank-sync/9", "acme") }
    assert_equal ["ERROR_REASON_UNKNOWN_SCHEDULE", "schedule.reference", "bank-sync/9"], [error.reason, error.field, error.value]
    there = assert_raises(Offbeat::NotFound) { client.assign_slot("bank-sync/9", "acme") }
    assert_equal [there.message, there.allowed], [error.message, error.allowed]
    write { |content| content["schedules"].reject! { |one| one["reference"]["version"] == 2 } }
    auto = Offbeat::Client.new(Sidecar::SHARED.address, mode: :auto, schedules: @file)
    assert_equal %i[local sidecar], %w[bank-sync/1 bank-sync/2].map { |name| auto.assign_slot(name, "acme").decided_by }
    assert_raises(Offbeat::InvalidArgument) { local.assign_slot(Offbeat::ScheduleReference.new("bank-sync", 0), "acme") }
  end

  def test_names_that_are_none_are_refused_as_by_the_sidecar
    here = local
    [["", 1], ["a/b", 1], ["x" * 65, 1], ["a\n", 1], ["bank-sync", 0], ["bank-sync", -1], ["bank-sync", 1_000_001], ["nobody", 7]].each do |name, version|
      reference = Offbeat::ScheduleReference.new(name, version)
      errors = [here, client].map { |asked| assert_raises(Offbeat::Error) { asked.assign_slot(reference, "acme") } }
      assert_equal(*errors.map { |error| [error.class, error.message, error.reason, error.field, error.value, error.allowed] })
    end
  end

  def test_a_schedule_that_needs_a_sidecar_is_left_to_one
    write do |content|
      content["schedules"] << { "reference" => { "name" => "nightly", "version" => 1 }, "identity" => { "fingerprint" => "f" * 64 },
                                "spec" => { "calendar" => { "unit" => "CALENDAR_UNIT_DAY", "timeZone" => "UTC" }, "newField" => 5 } }
    end
    here = Offbeat::Client.new(mode: :local, schedules: @file)
    assert_match(/calendar/, here.local_refusal("nightly/1"))
    assert_raises(Offbeat::NeedsSidecar) { here.assign_slot("nightly/1", "acme") }
    assert_nil here.local_refusal("bank-sync/1")
  end

  def test_the_file_is_read_again_when_it_changes
    here = local
    sleep(1.01)
    write { |content| content["schedules"].each { |one| one["reference"]["name"] += ".renamed" } }
    assert_equal :local, here.assign_slot("bank-sync.renamed/1", "acme").decided_by
    assert_raises(Offbeat::NotFound) { here.assign_slot("bank-sync/1", "acme") }
    # The client checks the file at most once a second.
    write
    assert_equal :local, here.assign_slot("bank-sync.renamed/1", "acme").decided_by
    sleep(1.01)
    assert_equal :local, here.assign_slot("bank-sync/1", "acme").decided_by
  end

  def test_a_version_that_changes_its_meaning_is_refused_and_the_old_one_stays
    here = local
    before = here.assign_slot("bank-sync/1", "acme", from_time: NOON)
    other = client.send(:resolved, Offbeat::Schedule.new(period: 60).to_message, nil).message
    change = lambda do |content|
      bank_sync = content["schedules"].find { |one| one["reference"]["name"] == "bank-sync" }
      bank_sync.update("identity" => { "fingerprint" => other.identity.fingerprint }, "spec" => JSON.parse(other.spec.to_json))
      content["schedules"].reject! { |one| one["reference"]["name"] == "accounts" }
    end
    ["no JSON", "{}", change].each do |content|
      sleep(1.01)
      content.is_a?(String) ? write(content) : write(&content)
      _, said = capture_io { assert_equal before, here.assign_slot("bank-sync/1", "acme", from_time: NOON) }
      assert_match(/\Aoffbeat: schedules: .* is refused: must be .*; the schedules before stay\n\z/m, said)
      assert_empty(capture_io { here.assign_slot("accounts/1", "acme", kind: "import") }.last, "it is said once")
    end
    assert_match(/accounts\/1: fingerprint: /, assert_raises(Offbeat::InvalidArgument) do
      write { |content| content["schedules"].first["identity"]["fingerprint"] = "f" * 64 }
      Offbeat::Client.new(mode: :local, schedules: @file)
    end.message)
  end

  def test_files_that_are_none_are_refused_at_once
    entry = JSON.parse(exported)["schedules"].first
    ["no JSON", "[]", "5", "{}", '{"schedules":[]}', '{"schedules":[{}]}', "{\"schedules\":[{\"reference\":{}}]}", "\xff",
     { "schedules" => [entry, entry] }, { "schedules" => [entry], "nextPageToken" => "more" }, { "schedules" => [entry] * 1_001 },
     { "schedules" => [entry.merge("reference" => { "name" => "a/b", "version" => 1 })] },
     { "schedules" => [entry.merge("reference" => { "name" => "a", "version" => 0 })] },
     { "schedules" => [entry.merge("spec" => entry["spec"].merge("slotCount" => 7))] },
     { "schedules" => [entry.merge("spec" => entry["spec"].merge("salt" => "another"))] }].each do |content|
      write(content)
      error = assert_raises(Offbeat::InvalidArgument, content.to_s[0, 80]) { Offbeat::Client.new(mode: :local, schedules: @file) }
      assert_equal "schedules", error.field
    end
    ["/nowhere/at/all", @folder].each do |path|
      assert_equal "schedules", assert_raises(Offbeat::InvalidArgument) { Offbeat::Client.new(mode: :auto, schedules: path) }.field
    end
    assert_equal :remote, Offbeat::Client.new(schedules: "/nowhere/at/all").mode
  end

  def test_threads_read_while_the_file_changes
    here = local
    stopping = false
    threads = Array.new(4) { Thread.new { (1..).take_while { here.assign_slot("bank-sync/1", "acme").slot_index && !stopping }.size } }
    3.times { write && sleep(0.5) }
    stopping = true
    assert_operator threads.map(&:value).min, :>, 100
  end
end
