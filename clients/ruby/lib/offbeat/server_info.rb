# frozen_string_literal: true

require_relative "v1/server_info_pb"
require_relative "value"

module Offbeat
  # What a sidecar is: its version, the release of the IANA time-zone database that is built in, and its limits, as
  # `offbeat limits` prints them.
  ServerInfo = Value.define(:version, :time_zone_database, :limits) do
    def self.of(message)
      new(version: message.version, time_zone_database: message.time_zone_database,
          limits: message.limits.map { |limit| ServerLimit.of(limit) })
    end
  end

  # The allowed range of a quantity: its name, in words for people, which may change; the smallest and the largest
  # allowed value; their unit, nil for plain numbers; and what else to know, or nil.
  ServerLimit = Value.define(:name, :minimum, :maximum, :unit, :note) do
    def self.of(message)
      new(name: message.name, minimum: message.minimum, maximum: message.maximum,
          unit: Fields.name_or_nil(message.unit), note: Fields.name_or_nil(message.note))
    end
  end
end
