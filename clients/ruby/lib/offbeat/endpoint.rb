# frozen_string_literal: true

require "ipaddr"
require "openssl"
require "socket"
require_relative "secret"
require_relative "tls"

module Offbeat
  # Where a sidecar listens, how to get there, and what it wants to see: TLS, a token.
  class Endpoint
    FAILED = "SSLERR" # OpenSSL's name of the state in which a handshake has failed, and did not just end
    private_constant :FAILED

    attr_reader :address

    # @param tls a {Tls}, true for one of defaults, or false or nil for none
    # @param token a String, or what answers `call` with one; nil for none
    def initialize(address, tls: nil, token: nil)
      @address = address
      @host, @port, @path = parse(address)
      @tls = checked_tls(tls)
      @token = token && Token.new(token)
      return if @token.nil? || @tls || @path || loopback?

      raise Token.refused("a token over plain TCP to #{address}",
                          "must go over TLS (tls:), a Unix socket or a loopback address: others could read it")
    end

    # The host that requests name.
    def host
      @path ? "localhost" : address
    end

    # The headers that authenticate a request; asks for the current token.
    def credentials
      @token ? { "authorization" => "Bearer #{@token.current}" } : {}
    end

    # A socket that is connected, TLS included. Raises Errno::ETIMEDOUT after the timeout, in
    # seconds; nil for never.
    def connect(timeout)
      return UNIXSocket.new(@path) if @path

      deadline = timeout && (now + timeout)
      socket = Socket.tcp(@host, @port, connect_timeout: timeout)
      socket.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
      connected = @tls ? secure(socket, deadline) : socket
    ensure
      socket.close if socket && !connected
    end

    # The error for a sidecar that does not answer.
    def unreachable(error)
      hung_up = !@tls && (error.is_a?(EOFError) || error.is_a?(Errno::ECONNRESET))
      question = hung_up ? "does it want TLS, or another user?" : "is 'offbeat serve' running there?"
      Unavailable.new("#{address}: the sidecar cannot be reached: #{question} (#{error.message})")
    end

    private

    def secure(socket, deadline)
      secured = SecureSocket.new(socket, @tls.context)
      name = @tls.server_name || @host
      secured.hostname = name unless ip_address(name) # which TLS has no place for (RFC 6066, 3)
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
      raise if secured.state.start_with?(FAILED) # verbose, Ruby says more

      raise EOFError, "the connection was closed before TLS began" # as while the sidecar is restarted
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

    # A token, or what answers `call` with one.
    class Token
      def self.refused(value, allowed)
        InvalidArgument.new("token: #{value} is refused: #{allowed}",
                            reason: "ERROR_REASON_MALFORMED", field: "token", value: value, allowed: allowed)
      end

      def initialize(source)
        @source = Secret.new(source)
        current unless source.respond_to?(:call)
      end

      # The current token. White space around it does not count, as in the sidecar's file.
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

    # A forked child that closes it says nothing to the sidecar: the connection stays the parent's.
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
