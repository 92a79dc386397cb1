# frozen_string_literal: true

require "openssl"
require "socket"
require_relative "secret"

module Offbeat
  # Messages in both directions at the same time: the streaming form of the Connect protocol, over a connection of its
  # own. (Net::HTTP answers only after it has sent the whole request.)
  class Conversation
    include Undumpable

    MAX_MESSAGE_BYTES = 64 << 20
    MAX_CHUNK_BYTES = MAX_MESSAGE_BYTES + 5 # with the flags and the length that precede a message
    MAX_HEAD_BYTES = 64 << 10
    READ_BYTES = 64 << 10
    END_STREAM = 2
    LOST = [SystemCallError, IOError, SocketError].freeze
    private_constant :LOST

    # @param endpoint where the sidecar listens
    # @param timeout seconds until the last message must have arrived; nil for no limit
    # @param opening seconds until the conversation must be open; nil for no limit
    def initialize(endpoint, path, timeout, opening: timeout)
      timeout = [timeout, Transport::LONGEST].min if timeout
      @endpoint, @address = endpoint, endpoint.address
      @bytes, @messages = String.new, String.new # binary, not text
      @answered, @chunked = false, false
      within(opening)
      credentials = endpoint.credentials # outside of the block: their errors are not those of the sidecar
      lost { open(path, timeout, credentials) }
      within(timeout) unless opening.equal?(timeout)
    end

    # Sets how long reading and writing may take from now on, in seconds; nil for no limit.
    def within(timeout)
      @deadline = timeout && (now + [timeout, Transport::LONGEST].min)
    end

    # Sends a message.
    def write(message)
      envelope = [0, message.bytesize].pack("CN") << message
      lost { send_all("#{envelope.bytesize.to_s(16)}\r\n#{envelope}\r\n") }
    end

    # The bytes of the next message; nil when the sidecar has ended the stream. Raises the error if the sidecar has
    # ended it with one.
    def read
      lost do
        until (flags, message = shift_message)
          shift_body || receive
        end
        return message unless flags == END_STREAM

        error = JSON.parse(message)["error"] and raise Offbeat.error_from(JSON.generate(error))
      end
    end

    # Says that no messages follow. Messages of the sidecar may still arrive.
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

    # Reads while it cannot write: otherwise both sides could wait for each other. If the sidecar accepts no more bytes,
    # this is not an error yet: the next read raises the reason that the sidecar has sent.
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

    # Reads before it waits: TLS may hold bytes that the socket does not show.
    def receive
      wait([@socket], []) until receive_some
    end

    # Reads the bytes that are there; nil if there are none.
    def receive_some
      part = @socket.read_nonblock(READ_BYTES, exception: false)
      raise EOFError, "the stream broke off" if part.nil?

      @bytes << part unless part == :wait_readable
    end

    def wait(readers, writers)
      IO.select(readers, writers, nil, left) or raise DeadlineExceeded, "#{@address}: no complete answer in time"
    end

    # Moves the part of the body that has arrived to the messages; false if there is none.
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
