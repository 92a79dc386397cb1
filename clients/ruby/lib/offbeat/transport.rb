# frozen_string_literal: true

require "net/http"
require_relative "conversation"
require_relative "endpoint"

module Offbeat
  # Sends messages to the sidecar and returns its answers, in the unary form of the Connect protocol over HTTP/1.1, with
  # the messages as bytes. (The grpc gem cannot be used both before and after a fork, and takes long to compile.)
  #
  # Connections are made at the first call and kept for the next ones, one for each thread that calls at the same time.
  # A forked child makes its own.
  #
  # Calls that do not reach the sidecar are sent again for about four seconds, as long as a restart takes.
  class Transport
    include Undumpable

    ATTEMPTS = 12
    BACKOFF = 0.05 # seconds before the first retry; doubled for each further one
    LONGEST_BACKOFF = 0.5 # seconds before a retry, at most
    LONGEST = 100_000_000 # seconds: the longest timeout, because sockets count time in fewer bits than Ruby
    MAX_ANSWER_BYTES = 64 << 20 # enough for a batch of 65,536 IDs that are all refused, with an error for each
    KEEP_ALIVE = 30 # seconds; the sidecar keeps idle connections for 60
    LOST = [SystemCallError, IOError, Net::HTTPBadResponse, SocketError].freeze
    private_constant :LOST

    # @param options tls and token, as in {Endpoint#initialize}
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

    # Sends the bytes of a request, and returns the bytes of the answer. Raises an {Error} if there is none, or if it is
    # a refusal.
    #
    # @param service the service with its version, such as "v1.SlotService"
    def call(method, bytes, timeout, service: "v1.SlotService", attempts: ATTEMPTS)
      deadline = now + [timeout, LONGEST].min
      credentials = @endpoint.credentials # outside of the block: their errors are not those of the sidecar
      attempt, lost = 0, nil
      begin
        attempt += 1
        answer(exchange("/offbeat.#{service}/#{method}", bytes, deadline, credentials))
      rescue Net::OpenTimeout, Net::ReadTimeout, Net::WriteTimeout
        raise lost || DeadlineExceeded.new("#{address}: no complete answer within #{timeout} s")
      rescue OpenSSL::SSL::SSLError => e
        raise Untrusted.new(address, e)
      rescue Unavailable, *LOST => e
        lost = e.is_a?(Unavailable) ? e : @endpoint.unreachable(e) # it says more than a later timeout would
        delay = [BACKOFF * (2**(attempt - 1)), LONGEST_BACKOFF].min
        raise lost if attempt >= attempts || now + delay >= deadline

        sleep(delay)
        retry
      end
    end

    # Opens a connection of its own for messages in both directions. `opening` is the timeout for that, in seconds.
    def converse(path, timeout, opening: timeout)
      Conversation.new(@endpoint, path, timeout, opening: opening)
    end

    def close
      @lock.synchronize do
        @idle.each(&:finish) if @pid == Process.pid # others belong to the parent
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

    # Reads the body in parts, and raises {ResourceExhausted} if it has more than MAX_ANSWER_BYTES.
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

    # An idle connection of this process that is still open, or a new one.
    def take(left)
      loop do
        connection = @lock.synchronize do
          @idle, @pid = [], Process.pid unless @pid == Process.pid # after a fork, the idle ones belong to the parent
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
      http.max_retries = 0 # {#call} retries itself, within the deadline
      http.start
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # Raises EPIPE when the connection is reset while a request is sent: Net::HTTP then still reads the answer. The
    # sidecar may answer and close the connection before it has read the whole request, and the unread part makes the
    # close a reset.
    class Buffered < Net::BufferedIO
      # When the answer must be complete, by the monotonic clock.
      attr_writer :deadline

      def write(*)
        super
      rescue Errno::ECONNRESET
        raise Errno::EPIPE
      end

      private

      # Limits each wait to the deadline. Net::HTTP would allow the whole timeout again for every part of an answer, and
      # for its head.
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

      # Whether the connection is still open, and has nothing to read. (The check of Net::HTTP may block forever over
      # TLS.)
      def quiet?
        @socket.io.read_nonblock(1, exception: false) == :wait_readable
      rescue SystemCallError, IOError, OpenSSL::SSL::SSLError
        false
      end

      private

      def connect
        @socket = Buffered.new(@endpoint.connect(@open_timeout), read_timeout: @read_timeout,
                                                                 write_timeout: @write_timeout)
        # Net::HTTP also calls this before a request, if the connection was idle for long or has just been closed.
        @socket.deadline = @deadline
        on_connect
      rescue Errno::ETIMEDOUT
        raise Net::OpenTimeout
      end
    end
    private_constant :Connection
  end
end
