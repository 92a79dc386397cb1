# frozen_string_literal: true

require "openssl"
require "socket"
require_relative "secret"

module Offbeat
  # Messages in both directions at the same time: the Connect protocol's streaming form over
  # a connection of its own. (Net::HTTP answers only when a request has been sent.)
  class Conversation
    include Undumpable

    MAX_MESSAGE_BYTES = 64 << 20
    MAX_CHUNK_BYTES = MAX_MESSAGE_BYTES + 5 # with what says how long the message is
    MAX_HEAD_BYTES = 64 << 10
    READ_BYTES = 64 << 10
    END_STREAM = 2
    LOST = [SystemCallError, IOError, SocketError].freeze
    private_constant :LOST

    # @param endpoint where the sidecar listens
    # @param timeout when the last message must have come, in seconds; nil for never
    # @param opening when it must have been opened, likewise
    def initialize(endpoint, path, timeout, opening: timeout)
      timeout = [timeout, Transport::LONGEST].min if timeout
      @endpoint, @address = endpoint, endpoint.address
      @bytes, @messages = String.new, String.new # bytes, in no encoding
      @answered, @chunked = false, false
      within(opening)
      credentials = endpoint.credentials # outside: what they raise says nothing of the sidecar
      lost { open(path, timeout, credentials) }
      within(timeout) unless opening.equal?(timeout)
    end

    # From now on, how long reading and writing may take; nil is forever.
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
          shift_body || receive
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

    def open(path, timeout, credentials)
      @socket = @endpoint.connect(left)
      head = ["POST #{path} HTTP/1.1", "host: #{@endpoint.host}", "content-type: application/connect+proto",
              "connect-protocol-version: 1", "transfer-encoding: chunked"]
      head << "connect-timeout-ms: #{[(timeout * 1_000).ceil, 9_999_999_999].min}" if timeout
      head.concat(credentials.map { |name, value| "#{name}: #{value}" })
      send_all("#{head.join("\r\n")}\r\n\r\n")
    end

    # Reads while it cannot write: or both sides could wait for each other. Where the sidecar takes
    # no more, what it has said before counts: the next read raises the reason.
    def send_all(bytes)
      until bytes.empty?
        case (written = @socket.write_nonblock(bytes, exception: false))
        when :wait_writable then wait([@socket], [@socket]) && receive_some
        else bytes = bytes.byteslice(written..)
        end
      end
    rescue Errno::EPIPE, Errno::ECONNRESET, EOFError
      nil
    end

    # Looks before it waits: TLS may hold what the socket does not show.
    def receive
      wait([@socket], []) until receive_some
    end

    # Whether anything came.
    def receive_some
      part = @socket.read_nonblock(READ_BYTES, exception: false)
      raise EOFError, "the stream broke off" if part.nil?

      @bytes << part unless part == :wait_readable
    end

    def wait(readers, writers)
      IO.select(readers, writers, nil, left) or raise DeadlineExceeded, "#{@address}: no complete answer in time"
    end

    # Moves what has come of the body to the messages; false if nothing has.
    def shift_body
      read_head || (return false) unless @answered
      return dechunk if @chunked # as all answers are, except refusals before the stream starts
      return false if @bytes.empty?

      @messages << @bytes.slice!(0..)
    end

    def dechunk
      line = @bytes.index("\r\n")
      raise ArgumentError if line.nil? && @bytes.bytesize > MAX_HEAD_BYTES
      return false unless line

      size = Integer(@bytes.byteslice(0, line), 16)
      raise ArgumentError unless size.between?(0, MAX_CHUNK_BYTES)
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

      @chunked = head.match?(/^transfer-encoding: *chunked/i)
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
    rescue OpenSSL::SSL::SSLError => e
      raise Untrusted.new(@address, e)
    rescue *LOST => e
      raise @endpoint.unreachable(e)
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
end
