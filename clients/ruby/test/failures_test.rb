# frozen_string_literal: true

require_relative "helper"
require_relative "authority"
require "open3"

# Failures, and how the client reports them.
class FailuresTest < OffbeatTest
  def test_what_would_be_misunderstood_is_refused
    {
      "ids" => -> { client.assign_slots(EIGHT_HOURS, "tenant") },
      "ids[1]" => -> { client.assign_slots(EIGHT_HOURS, ["a", 1]) },
      "ids[65536]" => -> { client.assign_slots(EIGHT_HOURS, (["x"] * 65_536) + [1]) },
      "id" => -> { client.assign_slot(EIGHT_HOURS, nil) },
      "ids[0]" => -> { client.assign_slots(EIGHT_HOURS, [1], id_type: :uuid) },
      "id_type" => -> { client.assign_slot(EIGHT_HOURS, "x", id_type: "uuid") },
      "from_time" => -> { client.assign_slot(EIGHT_HOURS, 1, from_time: "2026-01-01T00:00:00Z") },
      "schedule.spec.period" => -> { client.assign_slot(Offbeat::Schedule.new(period: "8h"), 1) },
      "schedule.spec.placement" => -> { client.assign_slot(Offbeat::Schedule.new(period: 60, placement: :sideways), 1) },
      "schedule.spec.salt" => -> { client.assign_slot(Offbeat::Schedule.new(period: 60, salt: 5), 1) },
      "schedule.spec.slot_count" => -> { client.assign_slots(Offbeat::Schedule.new(period: 28_800, slot_count: 7), []) },
      "kind" => -> { client.assign_slot(EIGHT_HOURS, 1, kind: 5) },
      "population" => -> { client.describe_schedule(EIGHT_HOURS, population: 10**30) },
      "kind_spacing" => -> { client.reciprocal_slots(EIGHT_HOURS, kind_count: 2, kind_spacing: :odd) },
      "run_times[0]" => -> { client.reciprocal_slots(EIGHT_HOURS, run_times: ["1h"]) },
      "timeout" => -> { client.describe_schedule(EIGHT_HOURS, timeout: 0) },
      "address" => -> { Offbeat::Client.new("http://127.0.0.1:2328") }
    }.each do |field, ask|
      error = assert_raises(Offbeat::InvalidArgument, field, &ask)
      assert_equal field, error.field
      refute_empty error.allowed
    end
  end

  def test_bad_ids_do_not_cost_the_others_their_answer
    good = "0190d7a2-1111-7abc-8def-0123456789ab"
    ids = ([good] * 65_540) + ["oops", good]
    error = assert_raises(Offbeat::BadIds) { client.assign_slots(EIGHT_HOURS, ids, id_type: :uuid) }
    assert_equal [[65_540, "ids[65540]", "ERROR_REASON_MALFORMED"]], error.errors.map { |bad| [bad.id_index, bad.field, bad.reason] }
    assert_equal [-1, 75], error.answer.slot_indexes.last(2)
    assert_raises(KeyError) { error.answer[65_540] }
    assert_equal 65_541, error.answer.accepted.count
    returned = client.assign_slots(EIGHT_HOURS, ids, id_type: :uuid, return_errors: true)
    assert_equal error.errors, returned.errors
  end

  def test_the_address_is_an_argument_or_a_keyword
    given = Sidecar::SHARED.address
    clients = [Offbeat::Client.new(given), Offbeat::Client.new(address: given), Offbeat::Client.new("127.0.0.1:1", address: given)]
    assert_equal [given], clients.map(&:address).uniq
    assert_equal 28_800, Offbeat::Client.new(address: given).describe_schedule(EIGHT_HOURS).max_cycle_duration
    [Offbeat::Client.new, Offbeat::Client.new(nil), Offbeat::Client.new(address: nil)].each do |default|
      assert_equal Offbeat.configuration.address, default.address
    end
    assert_equal "address", assert_raises(Offbeat::InvalidArgument) { Offbeat::Client.new(address: "localhost") }.field
  end

  def test_details_are_carried
    error = assert_raises(Offbeat::InvalidArgument) { client.describe_schedule(Offbeat::Schedule.new(period: 28_800, slot_count: 7)) }
    assert_equal %w[google.rpc.ErrorInfo google.rpc.BadRequest], (error.details.map { |detail| detail["type"] })
    assert_equal "7", error.value
  end

  def test_nobody_there_is_unavailable_soon
    started = Time.now
    assert_raises(Offbeat::Unavailable) { Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}").describe_schedule(EIGHT_HOURS) }
    brief = Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}", timeout: 0.05)
    assert_kind_of Offbeat::NoAnswer, assert_raises(Offbeat::Unavailable) { brief.describe_schedule(EIGHT_HOURS) }
    assert_operator Offbeat::DeadlineExceeded, :<, Offbeat::NoAnswer
    assert_operator Time.now - started, :<, 6
  end

  def test_silence_ends_with_the_deadline
    silent = TCPServer.new("127.0.0.1", 0)
    client = Offbeat::Client.new("127.0.0.1:#{silent.addr[1]}", timeout: 0.3)
    started = Time.now
    assert_raises(Offbeat::DeadlineExceeded) { client.describe_schedule(EIGHT_HOURS) }
    assert_operator Time.now - started, :<, 2
  ensure
    silent.close
  end

  def test_an_answer_that_trickles_ends_with_the_deadline
    slow = TCPServer.new("127.0.0.1", 0)
    writer = Thread.new do
      socket = slow.accept
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 1000\r\n\r\n")
      loop { socket.write("x") && sleep(0.1) }
    rescue SystemCallError
      nil # the client has disconnected
    end
    client = Offbeat::Client.new("127.0.0.1:#{slow.addr[1]}", timeout: 0.5)
    started = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    assert_raises(Offbeat::DeadlineExceeded) { client.describe_schedule(EIGHT_HOURS) }
    assert_operator Process.clock_gettime(Process::CLOCK_MONOTONIC) - started, :<, 2
    assert_raises(Offbeat::InvalidArgument) { client.describe_schedule(EIGHT_HOURS, timeout: Float::NAN) }
  ensure
    writer&.kill
    slow&.close
  end

  def test_a_very_long_timeout_is_long
    [1e30, Float::INFINITY].each do |timeout|
      assert_equal 128, Offbeat::Client.new(Sidecar::SHARED.address, timeout: timeout).describe_schedule(EIGHT_HOURS).slot_count
    end
  end

  def test_a_killed_sidecar_is_missed_and_found_again
    address = "127.0.0.1:#{Sidecar.free_port}"
    client = Offbeat::Client.new(address, timeout: 2)
    3.times do
      sidecar = Sidecar.new(address)
      assert_operator client.assign_slot(EIGHT_HOURS, 7).slot_index, :>=, 0
      sidecar.stop("KILL")
      assert_raises(Offbeat::Unavailable) { client.assign_slot(EIGHT_HOURS, 7) }
    end
  end

  # Calls made during the restart wait, and none fails.
  def test_a_restart_costs_time_but_no_call
    Dir.mktmpdir do |folder|
      tls = Offbeat::Tls.new(ca: (authority = Authority.new).pem)
      flags = %w[--tls-certificate --tls-key].zip(authority.write(folder, "IP:127.0.0.1")).flatten
      restarts = { "127.0.0.1:#{Sidecar.free_port}" => [[], nil], "unix:#{folder}/offbeat.sock" => [[], nil],
                   "127.0.0.1:#{Sidecar.free_port}" => [flags, tls] }
      restarts.map { |address, (more, tls)| Thread.new { restart_under_calls(address, more, tls) } }.each(&:value)
    end
  end

  def restart_under_calls(address, flags, tls)
    sidecar, stopping = Sidecar.new(address, *flags), false
    client = Offbeat::Client.new(address, tls: tls)
    threads = Array.new(4) do
      Thread.new { (1..).take_while { |id| client.assign_slot(EIGHT_HOURS, id) && !stopping }.size }
    end
    threads.each { |thread| thread.report_on_exception = false }
    [0.3, 2].each do |downtime|
      sleep(0.3)
      assert_predicate sidecar.stop, :success?
      sleep(downtime)
      sidecar = Sidecar.new(address, *flags)
    end
    sleep(0.6) # the longest pause
    stopping = true
    assert_operator threads.map(&:value).min, :>, 10
  ensure
    sidecar.stop
  end

  def test_unix_sockets_work
    Dir.mktmpdir do |folder|
      sidecar = Sidecar.new("unix:#{folder}/offbeat.sock")
      ["unix:#{folder}/offbeat.sock", "unix://#{folder}/offbeat.sock"].each do |address|
        client = Offbeat::Client.new(address)
        assert_operator client.assign_slot(EIGHT_HOURS, "acme").slot_index, :>=, 0
        client.close
      end
      assert_predicate sidecar.stop, :success?
    end
  end

  def test_threads_share_a_client
    expected = client.assign_slot(EIGHT_HOURS, 5).slot_index
    threads = Array.new(8) { Thread.new { Array.new(20) { client.assign_slot(EIGHT_HOURS, 5).slot_index } } }
    assert_equal [expected] * 160, threads.flat_map(&:value)
  end

  # Puma and Sidekiq fork after the application has been loaded and used.
  def test_both_sides_of_a_fork_may_ask
    expected = client.assign_slot(EIGHT_HOURS, 42).slot_index
    children = Array.new(4) { fork { exit!(Array.new(20) { client.assign_slot(EIGHT_HOURS, 42).slot_index }.uniq == [expected]) } }
    assert_equal expected, client.assign_slot(EIGHT_HOURS, 42).slot_index
    assert(children.all? { |pid| Process.wait2(pid)[1].success? })
    assert_equal expected, client.assign_slot(EIGHT_HOURS, 42).slot_index
  end

  def test_requiring_connects_to_nothing_and_needs_no_grpc
    code = 'require "offbeat"; Offbeat::Client.new("127.0.0.1:1"); puts defined?(GRPC).inspect'
    output, status = Open3.capture2e(RbConfig.ruby, "-w", "-I#{ROOT}/clients/ruby/lib", "-e", code)
    assert_equal ["nil\n", true], [output, status.success?]
  end

  def test_configuration_by_variables_and_block
    code = 'require "offbeat"; puts Offbeat::Client.new.address, Offbeat::Client.new.timeout; ' \
           'Offbeat.configure { |config| config.address = "unix:/b" }; puts Offbeat::Client.new.address'
    output, = Open3.capture2e({ "OFFBEAT_ADDRESS" => "unix:/a", "OFFBEAT_TIMEOUT" => "2.5" },
                              RbConfig.ruby, "-I#{ROOT}/clients/ruby/lib", "-e", code)
    assert_equal "unix:/a\n2.5\nunix:/b\n", output
  end

  def test_durations_of_activesupport_are_numbers
    code = 'require "active_support/all"; require "offbeat"; ' \
           "client = Offbeat::Client.new(ARGV[0]); " \
           "schedule = Offbeat::Schedule.new(period: 8.hours, anchor_time: Time.utc(2026).in_time_zone); " \
           "puts client.describe_schedule(schedule, at_time: 1.day.from_now).slot_count"
    output, status = Open3.capture2(RbConfig.ruby, "-I#{ROOT}/clients/ruby/lib", "-e", code, Sidecar::SHARED.address)
    assert_equal ["128\n", true], [output, status.success?]
  end
end
