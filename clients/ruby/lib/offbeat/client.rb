# frozen_string_literal: true

require_relative "breaker"
require_relative "decisions"
require_relative "transport"

module Offbeat
  # A client of Offbeat, which asks a sidecar or decides without one.
  #
  #   client = Offbeat::Client.new("127.0.0.1:2328")
  #   client.assign_slot(Offbeat::Schedule.new(period: 8 * 3600), "acme").next_run.start_time
  #
  # Connects at its first call, may be shared by threads, and may be used on both sides of a fork. Calls that do not
  # reach the sidecar are retried for about four seconds, or until their timeout: while the sidecar restarts, calls take
  # longer, but do not fail.
  class Client
    # :remote always asks the sidecar. :auto decides requests that need no sidecar, and asks for the others; for
    # {BULK_IDS} IDs or more it asks first, and decides if that fails. :local never asks: requests that need a sidecar
    # raise {NeedsSidecar}.
    MODES = %i[remote auto local].freeze
    # Timeouts in seconds: for a web process, which then also has a {Breaker}, and for a worker.
    TIMEOUTS = { web: 0.3, worker: 10.0 }.freeze
    # From this many IDs on, :auto asks the sidecar first, because it is faster.
    BULK_IDS = 1_000

    attr_reader :timeout

    # @param location the address, HOST:PORT or unix:PATH. Default: OFFBEAT_ADDRESS, or else 127.0.0.1:2328
    # @param address the address as a keyword
    # @param timeout the longest time for a call, or for each call of a large batch: a number of seconds, :web (0.3 s,
    #   with a {Breaker}) or :worker (10 s). Default: OFFBEAT_TIMEOUT, or else :worker
    # @param token the bearer token for the sidecar: a String, or an object whose `call` returns the current token
    #   before every call and stream. Over plain TCP, a token is allowed to loopback addresses only
    # @param tls a {Tls}; true for one that trusts the system's authorities; false for none
    # @param mode one of {MODES}. Default: OFFBEAT_MODE, or else :remote
    # @param breaker a {Breaker}; false for none. Default: one with the timeout :web, else none
    # @param schedules the path of a file that `offbeat schedules export` has written: schedules by name, for :auto and
    #   :local. It is read again when it changes. Default: OFFBEAT_SCHEDULES, or else none
    # @param clock an object whose `call` returns the current Time. Default: the clock of this machine
    def initialize(location = nil, address: location, timeout: nil, token: nil, tls: nil, mode: nil, breaker: nil,
                   schedules: nil, clock: nil)
      defaults = Offbeat.configuration
      timeout ||= defaults.timeout
      @timeout = checked_timeout(timeout)
      mode = checked_mode(mode || defaults.mode)
      @decisions = Decisions.new(mode, schedules || defaults.schedules, clock || defaults.clock || -> { Time.now })
      transport = Transport.new(address || defaults.address, token: token || defaults.token,
                                                             tls: tls.nil? ? defaults.tls : tls)
      transport = guarded(transport, breaker.nil? ? defaults.breaker : breaker, timeout)
      @transport = mode == :local ? NoTransport.new : transport
    end

    # One of {MODES}.
    def mode
      @decisions.mode
    end

    def address
      @transport.address
    end

    # Closes the connections; the next call makes new ones.
    def close
      @transport.close
    end

    # Whether a schedule needs no sidecar, so that :auto and :local decide it. Raises {InvalidArgument} if the schedule
    # is invalid.
    def decides_locally?(schedule)
      local_refusal(schedule).nil?
    end

    # Why a schedule needs a sidecar, as a sentence; nil if it needs none. For a check at startup: in the mode :local,
    # every request about such a schedule raises this reason as {NeedsSidecar}, or as {NotFound} if the file of
    # schedules does not have it.
    def local_refusal(schedule)
      @decisions.local_refusal(Fields.schedule(schedule))
    end

    private

    def checked_mode(mode)
      MODES.find { |name| name.to_s == mode.to_s } or
        raise Offbeat.refused("mode", mode, "must be one of #{MODES.map(&:inspect).join(", ")}",
                              reason: "ERROR_REASON_OUT_OF_RANGE")
    end

    def guarded(transport, breaker, timeout)
      breaker = Breaker.new if breaker.nil? && timeout.to_s == "web"
      return transport unless breaker
      return GuardedTransport.new(transport, breaker) if breaker.is_a?(Breaker)

      raise Offbeat.refused("breaker", breaker, "must be an Offbeat::Breaker, or false for none")
    end

    def now
      @decisions.now
    end

    def call(method, request, response, timeout, service: "v1.SlotService")
      ask(method, request, response, timeout, service: service).message
    end

    # The same as an {Answered}.
    def ask(method, request, response, timeout, service: "v1.SlotService")
      seconds = timeout && checked_timeout(timeout)
      @decisions.answered(method, request) do |attempts|
        bytes = call_bytes(method, request.class.encode(request), seconds, service: service, attempts: attempts)
        response.decode(bytes)
      end
    end

    def call_bytes(method, bytes, timeout, service: "v1.SlotService", attempts: Transport::ATTEMPTS)
      seconds = timeout.nil? ? @timeout : checked_timeout(timeout)
      @transport.call(method, bytes, seconds, service: service, attempts: attempts)
    end

    def checked_timeout(timeout)
      return timeout.to_f if timeout.is_a?(Numeric) && timeout.to_f.positive?

      word = TIMEOUTS.keys.find { |name| name.to_s == timeout.to_s }
      return TIMEOUTS.fetch(word) if word

      raise Offbeat.refused("timeout", timeout, "must be a positive number of seconds, :web or :worker")
    end
  end
end
