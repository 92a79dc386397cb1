# frozen_string_literal: true

require_relative "value"

module Offbeat
  # A circuit breaker for a sidecar that does not answer. After `failure_count` consecutive calls without an answer it
  # opens, and calls fail at once with {CircuitOpen}. After `open_duration` it lets one call through, while others still
  # fail. If that call gets no answer either, the breaker stays open for twice as long as before, up to
  # `max_open_duration`. A refusal counts as an answer.
  #
  #   Offbeat::Client.new(timeout: :web, breaker: Offbeat::Breaker.new(failure_count: 3))
  Breaker = Value.define(:failure_count, :open_duration, :max_open_duration) do
    # @param failure_count consecutive calls without an answer after which it opens: 1 or more
    # @param open_duration how long it stays open at first, in seconds
    # @param max_open_duration the longest time that it stays open, in seconds
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

  # The state of a {Breaker} for one sidecar. May be shared by threads; a forked child starts with a closed one.
  class Circuit
    def initialize(breaker, address)
      @breaker, @address, @lock = breaker, address, Mutex.new
      reset
    end

    # Yields, so that the block calls the sidecar. Raises {CircuitOpen} instead while the circuit is open.
    def call
      probes = enter
      begin
        answer = yield
      rescue NoAnswer => e
        refused?(e) ? close : fail(probes)
        raise
      rescue Error
        close # a refusal is an answer
        raise
      else
        close
        answer
      ensure
        leave if probes # also if the call was interrupted
      end
    end

    private

    def reset
      @failures, @open_until, @open_duration, @probing, @pid = 0, nil, @breaker.open_duration, false, Process.pid
    end

    # Whether this call is the one that tries an open circuit. Raises {CircuitOpen} if it must not be made.
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

    # Whether the sidecar itself refused the call, as it does while it shuts down: such an error has a reason. (An
    # expired deadline counts as no answer, no matter which side noticed it.)
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

    # Streams bypass the circuit: each has a connection of its own, and its answers come later.
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

  # The transport of a client that never calls a sidecar.
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
