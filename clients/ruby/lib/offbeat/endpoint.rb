# frozen_string_literal: true

require "ipaddr"
require "openssl"
require "socket"
require_relative "secret"
require_relative "tls"

module Offbeat
  # The address of a sidecar, and how to connect to it: with TLS, and with a token.
  class Endpoint
    FAILED = "SSLERR" # OpenSSL's state after a handshake that failed, as opposed to a connection that was closed
    private_constant :FAILED

    attr_reader :address

    # @param tls a {Tls}; true for one with the defaults; false or nil for none
    # @param token a String, or an object whose `call` returns one; nil for none
    def initialize(address, tls: nil, token: nil)
      @address = address
      @host, @port, @path = parse(address)
      @tls = checked_tls(tls)
      @token = token && Token.new(token)
      return if @token.nil? || @tls || @path || loopback?

      raise Token.refused("a token over plain TCP to #{address}",
                          "must go over TLS (tls:), a Unix socket or a loopback address: others could read it")
    end

    # The value of the Host header.
    def host
      @path ? "localhost" : address
    end

    # The headers that authenticate a request, with the current token.
    def credentials
      @token ? { "authorization" => "Bearer #{@token.current}" } : {}
    end

    # A connected socket, with TLS if it is set. Raises Errno::ETIMEDOUT after the timeout, in seconds; nil for none.
    def connect(timeout)
      return UNIXSocket.new(@path) if @path

      deadline = timeout && (now + timeout)
      socket = Socket.tcp(@host, @port, connect_timeout: timeout)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      connected = @tls ? secure(socket, deadline) : socket
    ensure
      socket.close if socket && !connected
    end

    # The error for a sidecar that cannot be reached.
    def unreachable(error)
      hung_up = !@tls && (error.is_a?(EOFError) || error.is_a?(Errno::ECONNRESET))
      question = hung_up ? "does it want TLS, or another user?" : "is 'offbeat serve' running there?"
      Unavailable.new("#{address}: the sidecar cannot be reached: #{question} (#{error.message})")
    end

    private

    def secure(socket, deadline)
      secured = SecureSocket.new(socket, @tls.context)
      name = @tls.server_name || @host
      secured.hostname = name unless ip_address(name) # an IP address must not be sent as server name (RFC 6066, 3)
      shake_hands(secured, socket, deadline)
      secured.post_connection_check(name)
      secured
    end

    def shake_hands(secured, socket, deadline)
      until (wanted = secured.connect_nonblock(exception: false)) == secured
        left = deadline && (deadline - now)
        raise Errno::ETIMEDOUT if left&.negative?

        wanted == :wait_readable ? socket.wait_readable(left) : socket.wait_writable(left)
      end
    rescue OpenSSL::SSL::SSLError
      raise if secured.state.start_with?(FAILED) # start_with?, because Ruby appends a description if $VERBOSE is set

      raise EOFError, "the connection was closed before TLS began" # as happens while the sidecar restarts
    end

    def checked_tls(tls)
      tls = Tls.new if tls == true
      return unless tls

      raise Offbeat.refused("tls", tls.class, "must be an Offbeat::Tls, true or false") unless tls.is_a?(Tls)
      raise Offbeat.refused("tls", tls, "must be nil or false over a Unix socket, which has none") if @path

      tls
    end

    def loopback?
      @host.casecmp?("localhost") || ip_address(@host)&.loopback?
    end

    def ip_address(text)
      IPAddr.new(text)
    rescue IPAddr::Error
      nil
    end

    def parse(address)
      allowed = "must be HOST:PORT with a port of 1 to 65535, or unix:PATH"
      raise Offbeat.refused("address", address, allowed) unless address.is_a?(String)

      return [nil, nil, Regexp.last_match(1)] if address =~ %r{\Aunix:(?://)?(/?.+)\z}m

      host, port = address.match(/\A([^\/]+):(\d{1,5})\z/)&.captures
      raise Offbeat.refused("address", address, allowed) unless host && port.to_i.between?(1, 65_535)

      [host.delete_prefix("[").delete_suffix("]"), port.to_i, nil]
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end

    # A token, or an object whose `call` returns one.
    class Token
      def self.refused(value, allowed)
        InvalidArgument.new("token: #{value} is refused: #{allowed}",
                            reason: "ERROR_REASON_MALFORMED", field: "token", value: value, allowed: allowed)
      end

      def initialize(source)
        @source = Secret.new(source)
        current unless source.respond_to?(:call)
      end

      # The current token, without white space around it, as the sidecar reads it from its file.
      def current
        source = @source.reveal
        token = source.respond_to?(:call) ? source.call : source
        allowed = "must be a String of visible ASCII characters, or answer `call` with one"
        raise Token.refused("a #{token.class}", allowed) unless token.is_a?(String)

        token.strip.tap do |text|
          raise Token.refused("a String of other characters", allowed) unless text.match?(/\A[!-~]+\z/)
        end
      end
    end
    private_constant :Token

    # A TLS socket that a forked child closes without sending anything, because the connection still belongs to the
    # parent.
    class SecureSocket < OpenSSL::SSL::SSLSocket
      def initialize(...)
        super
        @pid = Process.pid
        self.sync_close = true
      end

      def close
        @pid == Process.pid ? super : to_io.close
      end
    end
    private_constant :SecureSocket
  end
end
