# frozen_string_literal: true

require_relative "helper"

# Clients of web processes beside a sidecar that is frozen, killed, slow or restarted.
class BreakerTest < OffbeatTest
  WEB = 2 # seconds: the longest call, of 0.3 s, on a busy machine; without a limit it takes 10
  AT_ONCE = 0.02 # seconds, for 19 calls in 20: other processes compete for the CPUs

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  # The duration of a call, and its answer or error.
  def timed(asked, **options)
    started = now
    answer = asked.assign_slot(EIGHT_HOURS, "acme", **options)
    [now - started, answer]
  rescue Offbeat::Error => e
    [now - started, e]
  end

  def assert_at_once(calls)
    seconds = calls.map(&:first).sort
    assert_operator seconds[seconds.size * 19 / 20], :<, AT_ONCE
    assert_operator seconds.last, :<, WEB
  end

  def with_sidecar
    sidecar = Sidecar.new
    yield sidecar, sidecar.address
  ensure
    begin
      Process.kill("CONT", sidecar.pid)
      sidecar.stop("KILL")
    rescue Errno::ESRCH, Errno::ECHILD
      nil # it was killed by the test
    end
  end

  def test_calls_of_the_web_are_answered_or_fail_while_the_sidecar_is_frozen
    with_sidecar do |sidecar, address|
      web = Offbeat::Client.new(address, timeout: :web)
      assert_equal :sidecar, web.assign_slot(EIGHT_HOURS, "acme").decided_by
      sidecar.freeze_threads
      calls = Array.new(300) { timed(web) }
      assert_operator calls.map(&:first).max, :<, WEB
      assert(calls.all? { |_, answer| answer.is_a?(Offbeat::NoAnswer) })
      assert_equal [Offbeat::DeadlineExceeded] * 5, calls.first(5).map { |_, error| error.class }
      open = calls.select { |_, error| error.is_a?(Offbeat::CircuitOpen) }
      assert_operator open.size, :>, 290
      assert_at_once open
      assert_match(/\A#{address}: the sidecar is not asked: \d+ calls in a row got no answer\z/, open.last.last.message)
      assert_includes 0..1, open.last.last.retry_delay

      Process.kill("CONT", sidecar.pid)
      sleep(1.1)
      assert_operator timed(web).first, :<, WEB
      assert_equal :sidecar, web.assign_slot(EIGHT_HOURS, "acme").decided_by
    end
  end

  def test_auto_answers_at_once_while_the_sidecar_is_frozen
    with_sidecar do |sidecar, address|
      auto = Offbeat::Client.new(address, timeout: :web, mode: :auto)
      sidecar.freeze_threads
      calls = Array.new(300) { timed(auto) }
      assert_at_once calls
      assert(calls.all? { |_, answer| answer.decided_by == :local })
    end
  end

  def test_a_killed_sidecar_fails_calls_within_the_time_and_a_restarted_one_is_found
    with_sidecar do |sidecar, address|
      web = Offbeat::Client.new(address, timeout: :web, breaker: Offbeat::Breaker.new(open_duration: 0.3, failure_count: 2))
      assert_equal :sidecar, web.assign_slot(EIGHT_HOURS, "acme").decided_by
      sidecar.stop("KILL")
      calls = Array.new(20) { timed(web) }
      assert_operator calls.map(&:first).max, :<, WEB
      assert_equal [Offbeat::Unavailable] * 2, calls.first(2).map { |_, error| error.class }
      assert_equal [Offbeat::CircuitOpen], calls.drop(2).map { |_, error| error.class }.uniq
      again = Sidecar.new(address)
      sleep(0.35)
      assert_equal :sidecar, timed(web).last.decided_by
      assert_equal :sidecar, timed(web).last.decided_by
      again.stop
    end
  end

  # Servers that answer byte by byte and never finish.
  def test_slow_and_broken_servers_fail_calls_within_the_time
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n"
    ["", "HTTP/1.1 200 OK\r\ncontent-le", "#{head}content-length: 1000\r\n\r\n", "#{head}transfer-encoding: chunked\r\n\r\n", "garbage\r\n\r\n"].each do |start|
      trickling(start) do |address|
        web = Offbeat::Client.new(address, timeout: :web)
        calls = Array.new(8) { timed(web) }
        assert_operator calls.map(&:first).max, :<, WEB, start
        assert_equal [Offbeat::CircuitOpen] * 3, calls.last(3).map { |_, error| error.class }, start
      end
    end
  end

  def trickling(start)
    server = TCPServer.new("127.0.0.1", 0)
    threads = ThreadGroup.new
    accepting = Thread.new do
      loop { threads.add(Thread.new(server.accept) { |socket| trickle(socket, start) }) }
    end
    yield "127.0.0.1:#{server.addr[1]}"
  ensure
    [accepting, *threads.list].each(&:kill)
    server.close
  end

  def trickle(socket, start)
    socket.write(start)
    loop { sleep(0.1) && socket.write("1") }
  rescue SystemCallError
    nil # the client has disconnected
  end

  def test_the_open_time_doubles_while_nobody_answers
    web = Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}", timeout: 0.02,
                              breaker: Offbeat::Breaker.new(failure_count: 3, open_duration: 0.1, max_open_duration: 0.3))
    2.times { assert_instance_of Offbeat::Unavailable, timed(web).last }
    # From one call's start, which is before the circuit opens, to the end of the next.
    closed_since = asked_since = now
    delays = Array.new(6) do
      sleep(0.005) while (asked_since = now) && (error = timed(web).last).is_a?(Offbeat::CircuitOpen)
      assert_instance_of Offbeat::Unavailable, error
      waited, closed_since = now - closed_since, asked_since
      waited
    end
    [0, 0.1, 0.2, 0.3, 0.3, 0.3].zip(delays).each { |least, delay| assert_operator delay, :>=, least, delays.to_s }
    assert_operator delays.last, :<, 1, "it would be 1.6 s without a longest one"
  end

  def test_one_call_tries_while_others_fail_at_once
    with_sidecar do |sidecar, address|
      web = Offbeat::Client.new(address, timeout: 1, breaker: Offbeat::Breaker.new(failure_count: 1, open_duration: 0.2))
      sidecar.freeze_threads
      timed(web)
      sleep(0.25)
      calls = Array.new(20) { Thread.new { timed(web) } }.map(&:value)
      assert_equal [1, 19], [calls.count { |_, error| error.is_a?(Offbeat::DeadlineExceeded) }, calls.count { |_, error| error.is_a?(Offbeat::CircuitOpen) }]
      # An aborted call stops probing; the next call probes instead.
      sleep(0.45)
      thread = Thread.new { timed(web) }
      sleep(0.05)
      thread.kill.join
      assert_instance_of Offbeat::DeadlineExceeded, timed(web).last
    end
  end

  def test_a_refusal_is_an_answer
    web = Offbeat::Client.new(Sidecar::SHARED.address, timeout: :web, breaker: Offbeat::Breaker.new(failure_count: 1))
    wrong = Offbeat::Schedule.new(period: 28_800, slot_count: 7)
    3.times { assert_raises(Offbeat::InvalidArgument) { web.describe_schedule(wrong) } }
    assert_equal :sidecar, timed(web).last.decided_by
  end

  def test_without_a_breaker_each_call_asks
    nobody = "127.0.0.1:#{Sidecar.free_port}"
    [{ timeout: 0.05 }, { timeout: :web, breaker: false }].each do |settings|
      asking = Offbeat::Client.new(nobody, **settings)
      7.times { assert_instance_of Offbeat::Unavailable, timed(asking, timeout: 0.01).last }
    end
  end

  def test_named_spreads_stand_behind_the_breaker_too
    web = Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}", timeout: 0.01, breaker: Offbeat::Breaker.new(failure_count: 1))
    assert_instance_of Offbeat::Unavailable, timed(web).last
    assert_raises(Offbeat::CircuitOpen) { web.named_spread("mail", feeder_count: 1).open }
  end

  def test_a_forked_child_begins_anew
    web = Offbeat::Client.new("127.0.0.1:#{Sidecar.free_port}", timeout: 0.01, breaker: Offbeat::Breaker.new(failure_count: 1))
    timed(web)
    assert_instance_of Offbeat::CircuitOpen, timed(web).last
    child = fork { exit!(timed(web).last.instance_of?(Offbeat::Unavailable) && timed(web).last.instance_of?(Offbeat::CircuitOpen)) }
    assert_predicate Process.wait2(child)[1], :success?
  end
end
