# frozen_string_literal: true

require_relative "helper"

# A proxy between a client and a sidecar that can lose the answer to a call.
class LossyProxy
  attr_reader :address

  def initialize(sidecar)
    @port = sidecar.address[/\d+\z/].to_i
    @server = TCPServer.new("127.0.0.1", 0)
    @address = "127.0.0.1:#{@server.addr[1]}"
    @thread = Thread.new { loop { Thread.new(@server.accept) { |client| serve(client) } } }
  end

  # Loses the answer to a call of this method, after `after` other calls of it, and then
  # runs the block.
  def lose(method, after: 0, &block)
    @lost = [method, after, block]
  end

  def stop
    @thread.kill
    @server.close
  end

  private

  # One exchange after the other, as in HTTP/1.1.
  def serve(client)
    sidecar = TCPSocket.new("127.0.0.1", @port)
    loop do
      request = message(client)
      sidecar.write(request)
      answer = message(sidecar)
      return then_do if lost?(request)

      client.write(answer)
    end
  rescue SystemCallError, EOFError
    nil # one of the two has disconnected
  ensure
    client.close
    sidecar&.close
  end

  def message(socket)
    head = socket.readline("\r\n\r\n")
    head + socket.read(head[/^content-length: (\d+)/i, 1].to_i)
  end

  def lost?(request)
    return false unless @lost && request.start_with?("POST /offbeat.v1.NamedSpreadService/#{@lost[0]} ")

    (@lost[1] -= 1).negative?
  end

  def then_do
    block, @lost = @lost[2], nil
    block&.call
  end
end

# Base of tests of named spreads, with sidecars that a test may restart.
class NamedSpreadCase < OffbeatTest
  def setup
    @closing = []
  end

  def teardown
    @closing.each(&:call)
  end

  # Starts a sidecar for this test; {#restart} yields its successor.
  def sidecar(address = "127.0.0.1:#{Sidecar.free_port}")
    @sidecar = Sidecar.new(address)
    @closing << -> { @sidecar.stop("KILL") } if @closing.empty?
    @sidecar
  end

  def restart
    @sidecar.stop("KILL")
    sidecar(@sidecar.address)
  end

  def spread_at(address, **options)
    options = { feeder_count: 2, lease_duration: 1, max_attempt_count: 1_000, **options }
    Offbeat::Client.new(address).named_spread("mail", **options)
  end

  # A spread named after the test, at the shared sidecar.
  def spread(name = self.name, feeder_count: 2, **options)
    client.named_spread(name, feeder_count: feeder_count, **options).tap { |made| @closing << -> { made.discard } }
  end

  def now
    Process.clock_gettime(Process::CLOCK_MONOTONIC)
  end

  def until_true(seconds = 10)
    deadline = now + seconds
    sleep(0.02) until (result = yield) || now > deadline
    assert result, "not within #{seconds} s"
  end

  def texts(jobs)
    jobs.map(&:payload)
  end

  # Takes `count` jobs, and acks each at once.
  def acked(consumer, count)
    consumer.lazy.map { |job| job.tap(&:ack) }.first(count)
  end

  # Both ways to pull jobs, `count` at a time.
  def each_way(count = 16)
    yield ->(spread, name = "me", **options) { spread.consumer(name, batch_size: count, **options) }, "pull"
    yield ->(spread, name = "me", **options) { spread.stream(name, window: count, **options) }, "stream"
  end

  # Records every job that was begun, when, and when its lease was over.
  def draw_all(consumer, begun)
    consumer.each do |job|
      begun << [job.payload, now, now + job.lease_ends_in]
      sleep(rand * 0.01)
      job.ack
    end
  end
end
