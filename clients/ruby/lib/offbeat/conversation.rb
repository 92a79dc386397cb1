# frozen_string_literal: true

require "socket"

module Offbeat
  # Messages in both directions at the same time: the Connect protocol's streaming form over
  # a connection of its own. (Net::HTTP answers only when a request has been sent.)
  class Conversation
    MAX_MESSAGE_BYTES = 64 << 20
    MAX_HEAD_BYTES = 64 << 10
    READ_BYTES = 64 << 10
    END_STREAM = 2
    LOST = [SystemCallError, IOError, SocketError].freeze
    private_constant :LOST

    # @param address where the sidecar listens, as the transport has read it
    # @param timeout when the last message must have come, in seconds; nil for never
    # @param opening when it must have been opened, likewise
    def initialize(address, path, timeout, opening: timeout)
      timeout = [timeout, Transport::LONGEST].min if timeout
      @address = address
      @bytes, @messages, @answered = String.new, String.new, false # bytes, in no encoding
      within(opening)
      lost { open(path, timeout) }
      within(timeout) unless opening.equal?(timeout)
    end

    # From now on, how long reading and writing may take; nil for ever.
    def within(timeout)
      @deadline = timeout && (now + [timeout, Transport::LONGEST].min)
    end

    # Sends a message.
    def write(message)
      envelope = [0, message.bytesize].pack("CN") << message
      lost { send_all("#{envelope.bytesize.to_s(16)}\r\n#{envelope}\r\n") }
    end

    # The bytes of the next message; nil when the sidecar has ended the stream. Raises what
    # it was refused with.
    def read
      lost do
        until (flags, message = shift_message)
          dechunk || receive
        end
        return message unless flags == END_STREAM

        error = JSON.parse(message)["error"] and raise Offbeat.error_from(JSON.generate(error))
      end
    end

    # Says that no message follows; the sidecar's may still come.
    def finish
      lost { send_all("0\r\n\r\n") }
    end

    def close
      @socket&.close
    end

    private

    def open(path, timeout)
      connect
      head = ["POST #{path} HTTP/1.1", "host: localhost", "content-type: application/connect+proto",
              "connect-protocol-version: 1", "transfer-encoding: chunked"]
      head << "connect-timeout-ms: #{[(timeout * 1_000).ceil, 9_999_999_999].min}" if timeout
      send_all("#{head.join("\r\n")}\r\n\r\n")
    end

    def connect
      if @address.path
        @socket = UNIXSocket.new(@address.path)
      else
        @socket = Socket.tcp(@address.host, @address.port, connect_timeout: left)
        @socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      end
    end

    # Reads while it cannot write: or both sides could wait for each other.
    def send_all(bytes)
      until bytes.empty?
        case (written = @socket.write_nonblock(bytes, exception: false))
        when :wait_writable then wait([@socket], [@socket]) && receive_some
        else bytes = bytes.byteslice(written..)
        end
      end
    end

    def receive
      wait([@socket], [])
      receive_some
    end

    def receive_some
      part = @socket.read_nonblock(READ_BYTES, exception: false)
      raise EOFError, "the stream broke off" if part.nil?

      @bytes << part unless part == :wait_readable
    end

    def wait(readers, writers)
      IO.select(readers, writers, nil, left) or raise DeadlineExceeded, "#{@address}: no complete answer in time"
    end

    # Moves what has come of the body to the messages; false if nothing has.
    def dechunk
      read_head || (return false) unless @answered
      line = @bytes.index("\r\n") or return false
      size = Integer(@bytes.byteslice(0, line), 16)
      return false if @bytes.bytesize < line + size + 4
      raise EOFError, "the stream broke off" if size.zero?

      @messages << @bytes.byteslice(line + 2, size)
      @bytes = @bytes.byteslice((line + size + 4)..)
      true
    rescue ArgumentError
      raise Error, "#{@address}: the answer is none of a sidecar"
    end

    def read_head
      ending = @bytes.index("\r\n\r\n")
      raise Error, "#{@address}: the answer is none of a sidecar" if ending.nil? && @bytes.bytesize > MAX_HEAD_BYTES
      return false unless ending

      head = @bytes.byteslice(0, ending)
      @bytes = @bytes.byteslice((ending + 4)..)
      unless head.match?(%r{\AHTTP/1\.1 200 }) && head.match?(%r{^content-type: application/connect\+proto}i)
        raise Error, "#{@address}: the answer is none of a sidecar: #{head.lines.first.inspect}"
      end

      @answered = true
    end

    def shift_message
      return if @messages.bytesize < 5

      flags, length = @messages.unpack("CN")
      raise Error, "#{@address}: a message of #{length} bytes" if length > MAX_MESSAGE_BYTES
      return if @messages.bytesize < length + 5

      message = @messages.byteslice(5, length)
      @messages = @messages.byteslice((length + 5)..)
      [flags, message]
    end

    def left
      return unless @deadline

      left = @deadline - now
      raise DeadlineExceeded, "#{@address}: no complete answer in time" if left <= 0

      left
    end

    def lost
      yield
    rescue Errno::ETIMEDOUT
      raise DeadlineExceeded, "#{@address}: no complete answer in time"
    rescue *LOST => e
      raise Unavailable, "#{@address}: the sidecar cannot be reached: is 'offbeat serve' running there? (#{e.message})"
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
