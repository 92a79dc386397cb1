# frozen_string_literal: true

require "net/http"
require_relative "conversation"
require_relative "endpoint"

module Offbeat
  # Messages to the sidecar and back: the Connect protocol's unary form over
  # HTTP/1.1, with the messages as bytes. (The grpc gem cannot be used before and
  # after a fork, and needs a long compilation; this needs neither.)
  #
  # Connections are made at the first call, kept for the next ones, one for each
  # thread that calls at a time; a forked child makes its own.
  #
  # What did not reach the sidecar is sent again for some four seconds: as long as a
  # restart takes.
  class Transport
    include Undumpable

    ATTEMPTS = 12
    BACKOFF = 0.05 # seconds, doubled each time,
    LONGEST_BACKOFF = 0.5 # up to this
    LONGEST = 100_000_000 # seconds: sockets count time in fewer bits than Ruby
    MAX_ANSWER_BYTES = 64 << 20 # a batch of 65,536 IDs that are all refused, with what is wrong about each
    KEEP_ALIVE = 30 # seconds; the sidecar keeps idle connections for 60
    LOST = [SystemCallError, IOError, Net::HTTPBadResponse, SocketError].freeze
    private_constant :LOST

    # @param options tls and token, as the {Endpoint} takes them
    def initialize(address, **options)
      @endpoint = Endpoint.new(address, **options)
      @lock = Mutex.new
      @idle, @pid = [], nil
    end

    def address
      @endpoint.address
    end

    def inspect
      "#<#{self.class} #{address}>"
    end

    # The bytes of an answer to the bytes of a question; raises what went wrong.
    #
    # @param service with its version: "v1.SlotService"
    def call(method, bytes, timeout, service: "v1.SlotService", attempts: ATTEMPTS)
      deadline = now + [timeout, LONGEST].min
      credentials = @endpoint.credentials # outside: what they raise says nothing of the sidecar
      attempt, lost = 0, nil
      begin
        attempt += 1
        answer(exchange("/offbeat.#{service}/#{method}", bytes, deadline, credentials))
      rescue Net::OpenTimeout, Net::ReadTimeout, Net::WriteTimeout
        raise lost || DeadlineExceeded.new("#{address}: no complete answer within #{timeout} s")
      rescue OpenSSL::SSL::SSLError => e
        raise Untrusted.new(address, e)
      rescue Unavailable, *LOST => e
        lost = e.is_a?(Unavailable) ? e : @endpoint.unreachable(e) # says more than that time is up
        delay = [BACKOFF * (2**(attempt - 1)), LONGEST_BACKOFF].min
        raise lost if attempt >= attempts || now + delay >= deadline

        sleep(delay)
        retry
      end
    end

    # A connection of its own, for messages in both directions; `opening` bounds making it.
    def converse(path, timeout, opening: timeout)
      Conversation.new(@endpoint, path, timeout, opening: opening)
    end

    def close
      @lock.synchronize do
        @idle.each(&:finish) if @pid == Process.pid # or they are the parent's
        @idle.clear
      end
    end

    private

    def exchange(path, bytes, deadline, credentials)
      left = deadline - now
      raise Net::ReadTimeout if left <= 0

      connection = take(left)
      begin
        left = [deadline - now, 0.001].max
        connection.open_timeout = connection.read_timeout = connection.write_timeout = left
        connection.deadline = deadline
        request = Net::HTTP::Post.new(path, headers(left).merge(credentials))
        request.body = bytes
        response = connection.request(request) { |incoming| incoming.body = read(incoming) }
      rescue StandardError
        connection.finish if connection.started?
        raise
      end
      give_back(connection)
      response
    end

    # Reads in pieces, with a bound on their number.
    def read(incoming)
      body = +""
      incoming.read_body do |part|
        body << part
        raise ResourceExhausted, "#{address}: an answer of more than #{MAX_ANSWER_BYTES} bytes" if body.bytesize > MAX_ANSWER_BYTES
      end
      body
    end

    def answer(response)
      return response.body if response.code == "200"

      raise Offbeat.error_from(response.body.to_s)
    end

    def headers(left)
      { "host" => @endpoint.host, "content-type" => "application/proto", "connect-protocol-version" => "1",
        "connect-timeout-ms" => [(left * 1_000).ceil, 9_999_999_999].min.to_s, "accept-encoding" => "identity" }
    end

    # An idle connection of this process that is still good, or a new one.
    def take(left)
      loop do
        connection = @lock.synchronize do
          @idle, @pid = [], Process.pid unless @pid == Process.pid # the parent's stay the parent's
          @idle.pop
        end
        return connect(left) unless connection
        return connection if connection.quiet?

        connection.finish
      end
    end

    def give_back(connection)
      @lock.synchronize { @idle << connection if @pid == Process.pid }
    end

    def connect(left)
      http = Connection.new(@endpoint, nil, nil) # without a proxy
      http.open_timeout = left
      http.keep_alive_timeout = KEEP_ALIVE
      http.max_retries = 0 # ours are made here, within the deadline
      http.start
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # The sidecar may answer, and close, before it has been sent all. After EPIPE, Net::HTTP reads such an
    # answer; what the sidecar has not read makes it a reset.
    class Buffered < Net::BufferedIO
      # When the answer must be complete, by the monotonic clock.
      attr_writer :deadline

      def write(*)
        super
      rescue Errno::ECONNRESET
        raise Errno::EPIPE
      end

      private

      # Net::HTTP would wait as long again for every part of an answer, its head too.
      def rbuf_fill
        @read_timeout = @deadline - Process.clock_gettime(Process::CLOCK_MONOTONIC)
        raise Net::ReadTimeout unless @read_timeout.positive?

        super
      end
    end
    private_constant :Buffered

    # HTTP over the sockets of an endpoint.
    class Connection < Net::HTTP
      def initialize(endpoint, _port = nil)
        super("localhost", 80)
        @endpoint = endpoint
      end

      # When the next answer must be complete.
      def deadline=(deadline)
        @deadline = @socket.deadline = deadline
      end

      # Whether nobody has closed it. (Net::HTTP asks in a way that over TLS may wait forever.)
      def quiet?
        @socket.io.read_nonblock(1, exception: false) == :wait_readable
      rescue SystemCallError, IOError, OpenSSL::SSL::SSLError
        false
      end

      private

      def connect
        @socket = Buffered.new(@endpoint.connect(@open_timeout), read_timeout: @read_timeout,
                                                                 write_timeout: @write_timeout)
        # Net::HTTP also connects before a request, if the connection was idle for long or has just been closed.
        @socket.deadline = @deadline
        on_connect
      rescue Errno::ETIMEDOUT
        raise Net::OpenTimeout
      end
    end
    private_constant :Connection
  end
end
