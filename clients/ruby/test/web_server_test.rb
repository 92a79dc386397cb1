# frozen_string_literal: true

require_relative "helper"
require "net/http"

# Web processes under Puma, with workers and threads, beside a sidecar that is frozen, killed and restarted.
class WebServerTest < OffbeatTest
  REQUESTS = 300

  # Yields the sidecar, and a lambda that makes requests and returns what each says and how long it took.
  def with_puma(mode)
    sidecar = Sidecar.new
    port = Sidecar.free_port
    variables = { "OFFBEAT_ADDRESS" => sidecar.address, "OFFBEAT_MODE" => mode, "PORT" => port.to_s,
                  "RUBYLIB" => File.join(ROOT, "clients/ruby/lib") }
    puma = Process.spawn(variables, "puma", "-C", File.join(__dir__, "puma.rb"), out: File::NULL)
    wait_for(port)
    yield sidecar, ->(count) { requests(port, count) }
  ensure
    Process.kill("TERM", puma)
    Process.wait(puma)
    stop(sidecar)
  end

  def stop(sidecar)
    Process.kill("CONT", sidecar.pid)
    sidecar.stop("KILL")
  rescue Errno::ESRCH
    nil # the test has killed it
  end

  def wait_for(port)
    deadline = Time.now + 30
    TCPSocket.new("127.0.0.1", port).close
  rescue Errno::ECONNREFUSED
    raise if Time.now > deadline

    sleep(0.05)
    retry
  end

  def requests(port, count)
    threads = Array.new(8) do |thread|
      Thread.new do
        (thread...count).step(8).map do |number|
          said, millis = Net::HTTP.get("127.0.0.1", "/customer-#{number}", port).split
          [said, Integer(millis)]
        end
      end
    end
    threads.flat_map(&:value)
  end

  def assert_fast(answers, millis)
    assert_operator answers.map(&:last).max, :<, millis, answers.to_s
  end

  def test_in_auto_all_are_answered_at_once_while_the_sidecar_is_frozen_or_gone
    with_puma("auto") do |sidecar, ask|
      2.times do |killed|
        killed.zero? ? sidecar.freeze_threads : Process.kill("KILL", sidecar.pid)
        answers = ask.call(REQUESTS)
        assert_equal [["local", REQUESTS]], answers.map(&:first).tally.to_a
        assert_fast(answers, 250) # other processes compete for the CPUs
        assert_operator answers.sum(&:last) / REQUESTS, :<, 20
      end
    end
  end

  def test_in_remote_all_are_answered_or_fail_in_time
    with_puma("remote") do |sidecar, ask|
      assert_equal({ "sidecar" => REQUESTS }, ask.call(REQUESTS).map(&:first).tally)
      sidecar.freeze_threads
      answers = ask.call(REQUESTS)
      assert_fast(answers, 500)
      assert_equal %w[Offbeat::CircuitOpen Offbeat::DeadlineExceeded], answers.map(&:first).uniq.sort
      open = answers.select { |said, _| said == "Offbeat::CircuitOpen" }
      assert_operator open.size, :>, REQUESTS * 0.8
      assert_operator open.sum(&:last) / open.size, :<, 20

      Process.kill("CONT", sidecar.pid)
      sleep(2.5)
      ask.call(60) # one call per worker probes
      assert_equal({ "sidecar" => 100 }, ask.call(100).map(&:first).tally)
      sidecar.stop("KILL")
      assert_fast(ask.call(REQUESTS), 500)
      again = Sidecar.new(sidecar.address)
      sleep(4.5)
      assert_includes ask.call(100).map(&:first), "sidecar"
      again.stop
    end
  end
end
