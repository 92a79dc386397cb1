# frozen_string_literal: true

require "json"
require "minitest/autorun"
require "offbeat"
require "socket"
require "tmpdir"

ROOT = File.expand_path("../../..", __dir__)
VECTORS = File.join(ROOT, "tests", "vectors")
BINARY = ENV.fetch("OFFBEAT_BIN", File.join(ROOT, "target", "debug", "offbeat"))

# A server process that has said that it listens.
class Sidecar
  attr_reader :address, :pid

  def self.free_port
    server = TCPServer.new("127.0.0.1", 0)
    server.addr[1].tap { server.close }
  end

  def initialize(address = "127.0.0.1:#{Sidecar.free_port}", *flags)
    @address = address
    reader, writer = IO.pipe
    @pid = Process.spawn(BINARY, "serve", "--listen", address, "--admin-listen", "off", *flags, err: writer)
    writer.close
    line = reader.gets
    raise "the sidecar says #{line.inspect}" unless line.to_s.include?("listening")

    Thread.new { reader.read } # or it would wait for somebody to read its logs
  end

  def stop(signal = "TERM")
    Process.kill(signal, pid)
    Process.wait2(pid)[1]
  end

  SHARED = new
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
