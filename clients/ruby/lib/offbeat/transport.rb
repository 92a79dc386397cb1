# frozen_string_literal: true

require "net/http"
require "socket"
require_relative "conversation"

module Offbeat
  # Messages to the sidecar and back: the Connect protocol's unary form over plain
  # HTTP/1.1, with the messages as bytes. (The grpc gem cannot be used before and
  # after a fork, and needs a long compilation; this needs neither.)
  #
  # Connections are made at the first call, kept for the next ones, one for each
  # thread that calls at a time; a forked child makes its own.
  class Transport
    ATTEMPTS = 4
    BACKOFF = 0.05 # seconds, doubled each time
    LONGEST = 100_000_000 # seconds: sockets count time in fewer bits than Ruby
    KEEP_ALIVE = 30 # seconds; the sidecar keeps idle connections for 60
    LOST = [SystemCallError, IOError, Net::HTTPBadResponse, SocketError].freeze
    private_constant :LOST

    # Where a sidecar listens: a host and port, or a path.
    Place = Struct.new(:host, :port, :path, :text) { alias_method :to_s, :text }

    attr_reader :address

    def initialize(address)
      @address = address
      @host, @port, @path = parse(address)
      @lock = Mutex.new
      @idle, @pid = [], nil
    end

    # The bytes of an answer to the bytes of a question; raises what went wrong.
    def call(method, bytes, timeout, service: "SlotService", attempts: ATTEMPTS)
      deadline = now + [timeout, LONGEST].min
      attempt = 0
      begin
        attempt += 1
        answer(exchange("/offbeat.v1.#{service}/#{method}", bytes, deadline))
      rescue Net::OpenTimeout, Net::ReadTimeout, Net::WriteTimeout
        raise DeadlineExceeded, "#{address}: no complete answer within #{timeout} s"
      rescue Unavailable, *LOST => e
        delay = BACKOFF * (2**(attempt - 1))
        raise unavailable(e) if attempt >= attempts || now + delay >= deadline

        sleep(delay)
        retry
      end
    end

    # A connection of its own, for messages in both directions; `opening` bounds making it.
    def converse(path, timeout, opening: timeout)
      Conversation.new(Place.new(@host, @port, @path, address), path, timeout, opening: opening)
    end

    def close
      @lock.synchronize { @idle.each(&:finish).clear }
    end

    private

    def exchange(path, bytes, deadline)
      left = deadline - now
      raise Net::ReadTimeout if left <= 0

      connection = take(left)
      begin
        connection.read_timeout = connection.write_timeout = left
        request = Net::HTTP::Post.new(path, headers(left))
        request.body = bytes
        response = connection.request(request) do |incoming|
          body = +""
          incoming.read_body do |part| # in pieces, each within what is left
            body << part
            left = deadline - now
            raise Net::ReadTimeout if left <= 0

            connection.read_timeout = left
          end
          incoming.body = body
        end
      rescue StandardError
        connection.finish if connection.started?
        raise
      end
      give_back(connection)
      response
    end

    def answer(response)
      return response.body if response.code == "200"

      raise Offbeat.error_from(response.body.to_s)
    end

    def unavailable(error)
      return error if error.is_a?(Unavailable)

      Unavailable.new("#{address}: the sidecar cannot be reached: is 'offbeat serve' running there? (#{error.message})")
    end

    def headers(left)
      { "content-type" => "application/proto", "connect-protocol-version" => "1",
        "connect-timeout-ms" => [(left * 1_000).ceil, 9_999_999_999].min.to_s, "accept-encoding" => "identity" }
    end

    # An idle connection of this process, or a new one.
    def take(left)
      connection = @lock.synchronize do
        @idle, @pid = [], Process.pid unless @pid == Process.pid # the parent's stay the parent's
        @idle.pop
      end
      connection || connect(left)
    end

    def give_back(connection)
      @lock.synchronize { @idle << connection if @pid == Process.pid }
    end

    def connect(left)
      http = @path ? UnixHTTP.new(@path) : Net::HTTP.new(@host, @port, nil)
      http.open_timeout = left
      http.keep_alive_timeout = KEEP_ALIVE
      http.max_retries = 0 # ours are made here, within the deadline
      http.start
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    def parse(address)
      allowed = "must be HOST:PORT with a port of 1 to 65535, or unix:PATH"
      raise Offbeat.refused("address", address, allowed) unless address.is_a?(String)

      return [nil, nil, Regexp.last_match(1)] if address =~ %r{\Aunix:(?://)?(/?.+)\z}m

      host, port = address.match(/\A([^\/]+):(\d{1,5})\z/)&.captures
      raise Offbeat.refused("address", address, allowed) unless host && port.to_i.between?(1, 65_535)

      [host.delete_prefix("[").delete_suffix("]"), port.to_i, nil]
    end

    # HTTP over a Unix socket.
    class UnixHTTP < Net::HTTP
      def initialize(path, _port = nil)
        super("localhost", 80)
        self.proxy_from_env = false
        @unix_path = path
      end

      private

      def connect
        @socket = Net::BufferedIO.new(UNIXSocket.new(@unix_path), read_timeout: @read_timeout,
                                                                  write_timeout: @write_timeout)
        on_connect
      end
    end
    private_constant :UnixHTTP
  end
end
