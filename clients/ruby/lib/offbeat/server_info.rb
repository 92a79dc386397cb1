# frozen_string_literal: true

require_relative "v1/server_info_pb"
require_relative "value"

module Offbeat
  # A sidecar: its version, the release of the IANA time-zone database that is built in, and its limits, as
  # `offbeat limits` prints them.
  ServerInfo = Value.define(:version, :time_zone_database, :limits) do
    def self.of(message)
      new(version: message.version, time_zone_database: message.time_zone_database,
          limits: message.limits.map { |limit| ServerLimit.of(limit) })
    end
  end

  # The allowed range of a quantity: its ID, which never changes; its name; the smallest and the largest allowed value;
  # their unit, nil for plain numbers; and what else to know, or nil. Name and note are words for people: they may
  # change.
  ServerLimit = Value.define(:id, :name, :min_value, :max_value, :unit, :note) do
    def self.of(message)
      new(id: message.id, name: message.name, min_value: message.min_value, max_value: message.max_value,
          unit: Fields.name_or_nil(message.unit), note: Fields.name_or_nil(message.note))
    end
  end
end
