# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "offbeat"
require "socket"
require "tmpdir"

ROOT = File.expand_path("../../..", __dir__)
VECTORS = File.join(ROOT, "tests", "vectors")
BINARY = ENV.fetch("OFFBEAT_BIN", File.join(ROOT, "target", "debug", "offbeat"))

# A server process that has logged that it listens.
class Sidecar
  attr_reader :address, :pid

  # Below the ephemeral range, so that no outgoing connection takes it before or between uses.
  def self.free_port
    port = rand(10_000..32_000)
    TCPServer.new("127.0.0.1", port).close
    port
  rescue Errno::EADDRINUSE
    retry
  end

  def initialize(address = "127.0.0.1:#{Sidecar.free_port}", *flags, admin: "off")
    @address = address
    reader, writer = IO.pipe
    @pid = Process.spawn(BINARY, "serve", "--listen", address, "--admin-listen", admin, *flags, err: writer)
    writer.close
    line = reader.gets
    raise "the sidecar says #{line.inspect}" unless line.to_s.include?("listening")

    Thread.new { reader.read } # a full pipe would block the server
  end

  # Stops it until it is killed, and waits for each thread: one could still answer a call.
  def freeze_threads
    Process.kill("STOP", pid)
    sleep(0.001) until Dir["/proc/#{pid}/task/*/stat"].all? { |file| File.read(file)[/\) (\w)[^)]*\z/, 1] == "T" }
  end

  def stop(signal = "TERM")
    Process.kill(signal, pid)
    Process.wait2(pid)[1]
  end

  SHARED = new("127.0.0.1:#{free_port}", "--schedules", File.join(__dir__, "schedules.toml"))
  Minitest.after_run { raise "the sidecar ended badly" unless SHARED.stop.success? }
end

class OffbeatTest < Minitest::Test
  NOON = Time.utc(2026, 3, 1, 12)
  EIGHT_HOURS = Offbeat::Schedule.new(period: 8 * 3600)

  def client
    @client ||= Offbeat::Client.new(Sidecar::SHARED.address)
  end

  def vectors(file)
    JSON.parse(File.read(File.join(VECTORS, file), encoding: "UTF-8"))
  end
end
