# frozen_string_literal: true

require_relative "helper"

# The transport against misbehaving servers.
class TransportTest < OffbeatTest
  MIB = 1 << 20

  def setup
    @closing = []
  end

  def teardown
    @closing.each(&:call)
  end

  # Accepts connections, and passes each to the block.
  def fake
    server = TCPServer.new("127.0.0.1", 0)
    thread = Thread.new do
      loop do
        socket = server.accept
        yield socket
      rescue SystemCallError
        nil # the client has disconnected
      ensure
        socket&.close
      end
    end
    @closing << -> { thread.kill && server.close }
    "127.0.0.1:#{server.addr[1]}"
  end

  def read_head(socket)
    nil until socket.gets == "\r\n"
  end

  def transport(address)
    Offbeat::Transport.new(address)
  end

  def test_an_answer_of_more_than_64_mib_is_refused_before_its_end
    mib = "x" * MIB
    { "content-length: #{80 * MIB}" => mib, "transfer-encoding: chunked" => "#{MIB.to_s(16)}\r\n#{mib}\r\n" }.each do |framing, part|
      sent = 0
      address = fake do |socket|
        read_head(socket)
        socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\n#{framing}\r\n\r\n")
        80.times { (sent += 1) && socket.write(part) }
      end
      error = assert_raises(Offbeat::ResourceExhausted) { transport(address).call("DescribeSchedule", "", 30) }
      assert_equal "#{address}: an answer of more than 67108864 bytes", error.message
      assert_includes 64..79, sent
    end
  end

  def test_a_connection_that_was_idle_for_long_is_made_again
    made = 0
    address = fake do |socket|
      made += 1
      read_head(socket)
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: 0\r\n\r\n")
      socket.read
    end
    transport = transport(address)
    transport.call("DescribeSchedule", "", 30)
    (idle,) = transport.instance_variable_get(:@idle)
    idle.keep_alive_timeout = 0 # instead of half a minute
    sleep 0.01
    assert_equal "", transport.call("DescribeSchedule", "", 30)
    assert_equal 2, made
  end

  def test_an_answer_of_64_mib_is_taken
    address = fake do |socket|
      read_head(socket)
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/proto\r\ncontent-length: #{64 * MIB}\r\n\r\n")
      64.times { socket.write("x" * MIB) }
    end
    assert_equal 64 * MIB, transport(address).call("DescribeSchedule", "", 30).bytesize
  end

  def test_why_it_is_lost_says_more_than_that_time_is_up
    kept = []
    address = fake { |socket| kept << socket.dup unless kept.empty? && kept << nil } # closes the first, answers none
    error = assert_raises(Offbeat::Error) { transport(address).call("DescribeSchedule", "", 0.5) }
    assert_instance_of Offbeat::Unavailable, error
    assert_operator kept.size, :>, 1
  end

  # Unread bytes cause a reset, which may reach the client while it sends.
  def test_an_answer_before_the_question_is_sent_is_heard
    { 404 => ["not_found", Offbeat::NotFound], 401 => ["unauthenticated", Offbeat::Unauthenticated],
      403 => ["permission_denied", Offbeat::PermissionDenied], 413 => ["resource_exhausted", Offbeat::ResourceExhausted] }.each do |status, (code, error)|
      body = JSON.generate(code: code, message: "no")
      address = fake do |socket|
        read_head(socket)
        socket.write("HTTP/1.1 #{status} No\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: #{body.bytesize}\r\n\r\n#{body}")
      end
      asking = transport(address)
      [0, 60_000, 200_000, 4_000_000].each do |size|
        50.times { assert_raises(error, "#{size} bytes") { asking.call("Dance", "x" * size, 5, attempts: 1) } }
      end
    end
  end

  def test_a_stream_of_endless_chunks_or_lines_is_none_of_a_sidecar
    head = "HTTP/1.1 200 OK\r\ncontent-type: application/connect+proto\r\ntransfer-encoding: chunked\r\n\r\n"
    ["fffffffff\r\n", "#{(65 * MIB).to_s(16)}\r\n", "0" * 70_000, "a" * 70_000].each do |start|
      address = fake do |socket|
        read_head(socket)
        socket.write(head + start)
        loop { socket.write("x" * 1_000) }
      end
      conversation = transport(address).converse("/offbeat.v1.SpreadService/Spread", 5)
      assert_match(/none of a sidecar/, assert_raises(Offbeat::Error) { conversation.read }.message)
    ensure
      conversation&.close
    end
  end
end
