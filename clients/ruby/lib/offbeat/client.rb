# frozen_string_literal: true

require_relative "transport"

module Offbeat
  # Asks a sidecar.
  #
  #   client = Offbeat::Client.new("127.0.0.1:2328")
  #   client.assign_slot(Offbeat::Schedule.new(period: 8 * 3600), "acme").next_run.start_time
  #
  # Connects at its first call, may be shared by threads, and may be used on both sides of a fork. Calls that did
  # not reach the sidecar are made again for four seconds, or until their timeout: a restart of the sidecar takes
  # time, but no call fails.
  class Client
    attr_reader :timeout

    # @param location the address, HOST:PORT or unix:PATH. Default: OFFBEAT_ADDRESS, or else 127.0.0.1:2328
    # @param address the address as a keyword
    # @param timeout the longest time, in seconds, that a call may take, or each call of a large batch
    # @param token the bearer token of the sidecar: a String, or an object that answers `call` with the current
    #   token and is asked before every call and stream. Plain TCP takes a token to loopback addresses only
    # @param tls a {Tls}; true for one that trusts the system's authorities; false for none
    def initialize(location = nil, address: location, timeout: nil, token: nil, tls: nil)
      defaults = Offbeat.configuration
      @timeout = checked_timeout(timeout || defaults.timeout)
      @transport = Transport.new(address || defaults.address, token: token || defaults.token,
                                                              tls: tls.nil? ? defaults.tls : tls)
    end

    def address
      @transport.address
    end

    # Closes the connections; the next call makes new ones.
    def close
      @transport.close
    end

    private

    def call(method, request, response, timeout, service: "v1.SlotService")
      response.decode(call_bytes(method, request.class.encode(request), timeout, service: service))
    end

    def call_bytes(method, bytes, timeout, service: "v1.SlotService")
      seconds = timeout.nil? ? @timeout : checked_timeout(timeout)
      @transport.call(method, bytes, seconds, service: service)
    end

    def checked_timeout(timeout)
      return timeout.to_f if timeout.is_a?(Numeric) && timeout.to_f.positive?

      raise Offbeat.refused("timeout", timeout, "must be a positive number of seconds")
    end
  end
end
