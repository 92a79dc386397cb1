# frozen_string_literal: true

require_relative "transport"

module Offbeat
  # Asks a sidecar.
  #
  #   client = Offbeat::Client.new("127.0.0.1:2328")
  #   client.assign_slot(Offbeat::Schedule.new(period: 8 * 3600), "acme").next_run.start_time
  #
  # Connects at its first call, may be shared by threads, and may be used on both
  # sides of a fork. Calls that did not reach the sidecar are made again for some four
  # seconds, or until their timeout: a restart of the sidecar costs time, but no call.
  class Client
    attr_reader :timeout

    # @param address HOST:PORT or unix:PATH; by default OFFBEAT_ADDRESS, else 127.0.0.1:2328
    # @param timeout bounds every call, and each call of a large batch; in seconds
    # @param token what the sidecar knows us by: a String, or what answers `call` with the one of now and is
    #   asked before every call and stream. Not over plain TCP, but to a loopback address
    # @param tls a {Tls}; true for one that trusts the system's authorities; false for none
    def initialize(address = nil, timeout: nil, token: nil, tls: nil)
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

    def call(method, request, response, timeout, service: "SlotService")
      response.decode(call_bytes(method, request.class.encode(request), timeout, service: service))
    end

    def call_bytes(method, bytes, timeout, service: "SlotService")
      seconds = timeout.nil? ? @timeout : checked_timeout(timeout)
      @transport.call(method, bytes, seconds, service: service)
    end

    def checked_timeout(timeout)
      return timeout.to_f if timeout.is_a?(Numeric) && timeout.to_f.positive?

      raise Offbeat.refused("timeout", timeout, "must be a positive number of seconds")
    end
  end
end
