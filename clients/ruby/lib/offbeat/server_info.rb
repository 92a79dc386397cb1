# frozen_string_literal: true

require_relative "v1/server_info_pb"
require_relative "value"

module Offbeat
  # Information about a sidecar: its version, the release of its built-in IANA time-zone database, and its limits, as
  # `offbeat limits` prints them.
  ServerInfo = Value.define(:version, :time_zone_database, :limits) do
    def self.of(message)
      new(version: message.version, time_zone_database: message.time_zone_database,
          limits: message.limits.map { |limit| ServerLimit.of(limit) })
    end
  end

  # The allowed range of a quantity. `id` never changes. `min_value` and `max_value` are the smallest and the largest
  # allowed value; `unit` is nil for plain numbers. `name` and `note` are for people, and may change; `note` is nil if
  # there is none.
  ServerLimit = Value.define(:id, :name, :min_value, :max_value, :unit, :note) do
    def self.of(message)
      new(id: message.id, name: message.name, min_value: message.min_value, max_value: message.max_value,
          unit: Fields.name_or_nil(message.unit), note: Fields.name_or_nil(message.note))
    end
  end
end
