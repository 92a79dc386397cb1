# frozen_string_literal: true

require_relative "offbeat/version"
require_relative "offbeat/errors"
require_relative "offbeat/secret"
require_relative "offbeat/fields"
require_relative "offbeat/schedule"
require_relative "offbeat/sql"
require_relative "offbeat/ids"
require_relative "offbeat/batches"
require_relative "offbeat/answers"
require_relative "offbeat/comparison"
require_relative "offbeat/slot_assignments"
require_relative "offbeat/packed_assignments"
require_relative "offbeat/due_runs"
require_relative "offbeat/migration"
require_relative "offbeat/audit"
require_relative "offbeat/lateness"
require_relative "offbeat/spread"
require_relative "offbeat/named_spread"
require_relative "offbeat/stages"
require_relative "offbeat/lanes"
require_relative "offbeat/lane_plan"
require_relative "offbeat/attempt_deadline"
require_relative "offbeat/server_info"
require_relative "offbeat/client"
require_relative "offbeat/shard"
require_relative "offbeat/client/slots"
require_relative "offbeat/client/batches"
require_relative "offbeat/client/migration"
require_relative "offbeat/client/lateness"
require_relative "offbeat/client/spreads"
require_relative "offbeat/client/stages"
require_relative "offbeat/client/lanes"
require_relative "offbeat/client/server_info"

# Client of Offbeat, a scheduling sidecar that decides when jobs run.
#
# A schedule cuts a repeating cycle into slots, and gives each ID one slot and one offset in that slot. The decision is
# a pure function of the request: every producer, in every language, gets the same answer.
module Offbeat
  DEFAULT_ADDRESS = "127.0.0.1:2328"

  # The defaults of new clients: see {Client#initialize}.
  class Configuration
    attr_accessor :address, :timeout, :tls, :mode, :breaker, :schedules, :clock

    def initialize(address, timeout)
      @address, @timeout = address, timeout
      @token, @tls = nil, nil
      @mode, @breaker, @schedules, @clock = :remote, nil, nil, nil
    end

    def token
      @token&.reveal
    end

    def token=(token)
      @token = token && Secret.new(token)
    end
  end

  class << self
    # The settings of new clients. They come from OFFBEAT_ADDRESS, OFFBEAT_TIMEOUT (in seconds, or web or worker),
    # OFFBEAT_MODE and OFFBEAT_SCHEDULES, unless a block of {configure} changes them.
    def configuration
      @configuration ||= Configuration.new(variable("OFFBEAT_ADDRESS") || DEFAULT_ADDRESS, timeout).tap do |settings|
        settings.mode = mode
        settings.schedules = variable("OFFBEAT_SCHEDULES")
      end
    end

    # Yields the settings of new clients, so that the block can change them.
    def configure
      yield configuration
    end

    private

    # The value of an environment variable. An empty one counts as unset, as in `${OFFBEAT_ADDRESS:-}`.
    def variable(name)
      ENV[name] unless ENV[name].to_s.empty?
    end

    def timeout
      text = variable("OFFBEAT_TIMEOUT") or return :worker
      word = Client::TIMEOUTS.keys.find { |name| name.to_s == text } and return word
      Float(text, exception: false) or
        raise refused("OFFBEAT_TIMEOUT", text, "must be a positive number of seconds, web or worker")
    end

    def mode
      text = variable("OFFBEAT_MODE") or return :remote
      Client::MODES.find { |name| name.to_s == text } or
        raise refused("OFFBEAT_MODE", text, "must be #{Client::MODES.join(", ")}", reason: "ERROR_REASON_OUT_OF_RANGE")
    end
  end
end
