# frozen_string_literal: true

require_relative "value"

module Offbeat
  # When a client stops to ask a sidecar that does not answer, and fails at once with {CircuitOpen}: after so many
  # calls in a row that got no answer, for a while. Then one call tries, and others fail meanwhile; while it gets no
  # answer, the time doubles. A refusal is an answer.
  #
  #   Offbeat::Client.new(timeout: :web, breaker: Offbeat::Breaker.new(failure_count: 3))
  Breaker = Value.define(:failure_count, :open_duration, :max_open_duration) do
    # @param failure_count calls in a row without an answer: 1 or more
    # @param open_duration how long it stays open at first, in seconds
    # @param max_open_duration how long at most, in seconds
    def initialize(failure_count: 5, open_duration: 1, max_open_duration: 30)
      unless failure_count.is_a?(Integer) && failure_count.positive?
        raise Offbeat.refused("breaker.failure_count", failure_count, "must be an Integer, 1 or more")
      end

      { open_duration: open_duration, max_open_duration: max_open_duration }.each do |name, seconds|
        next if seconds.is_a?(Numeric) && seconds.real? && seconds.positive?

        raise Offbeat.refused("breaker.#{name}", seconds, "must be a positive number of seconds")
      end
      super
    end
  end

  # State of a {Breaker} about one sidecar. May be shared by threads; a forked child starts with a new one.
  class Circuit
    def initialize(breaker, address)
      @breaker, @address, @lock = breaker, address, Mutex.new
      reset
    end

    # Yields to ask the sidecar, unless it is known not to answer.
    def call
      probes = enter
      begin
        answer = yield
      rescue NoAnswer => e
        refused?(e) ? close : fail(probes)
        raise
      rescue Error
        close # it was refused, and so answered
        raise
      else
        close
        answer
      ensure
        leave if probes # also where the call was broken off
      end
    end

    private

    def reset
      @failures, @open_until, @open_duration, @probing, @pid = 0, nil, @breaker.open_duration, false, Process.pid
    end

    # Whether this call is the one that tries.
    def enter
      @lock.synchronize do
        reset unless @pid == Process.pid
        return false unless @open_until

        left = @open_until - now
        return @probing = true unless @probing || left.positive?

        raise CircuitOpen.new("#{@address}: the sidecar is not asked: #{@failures} calls in a row got no answer",
                              retry_delay: [left, 0.0].max)
      end
    end

    def leave
      @lock.synchronize { @probing = false }
    end

    def close
      @lock.synchronize { reset if @failures.positive? || @open_until }
    end

    def fail(probes)
      @lock.synchronize do
        @failures += 1
        if probes
          @open_duration = [@open_duration * 2, @breaker.max_open_duration].min
          @open_until = now + @open_duration
        elsif @open_until.nil? && @failures >= @breaker.failure_count
          @open_until = now + @open_duration
        end
      end
    end

    # A sidecar that shuts down has said so. (An expired deadline counts, wherever it was noticed.)
    def refused?(error)
      error.is_a?(Unavailable) && !error.reason.empty?
    end

    def now
      Process.clock_gettime(Process::CLOCK_MONOTONIC)
    end
  end
  private_constant :Circuit

  # A transport behind a {Circuit}.
  class GuardedTransport
    include Undumpable

    def initialize(transport, breaker)
      @transport, @circuit = transport, Circuit.new(breaker, transport.address)
    end

    def call(...)
      @circuit.call { @transport.call(...) }
    end

    # A stream has a connection of its own, whose answers come later.
    def converse(...)
      @transport.converse(...)
    end

    def address
      @transport.address
    end

    def inspect
      "#<#{self.class} #{address}>"
    end

    def close
      @transport.close
    end
  end
  private_constant :GuardedTransport

  # What a client has that never asks a sidecar.
  class NoTransport
    include Undumpable

    def call(method, *, **)
      raise NeedsSidecar, "#{method} needs a sidecar"
    end

    def converse(path, *, **)
      call(path[%r{[^/]*\z}])
    end

    def address
      "local"
    end

    def close; end
  end
  private_constant :NoTransport
end
