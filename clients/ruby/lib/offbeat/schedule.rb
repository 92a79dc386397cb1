# frozen_string_literal: true

require "google/protobuf"
require_relative "v1/slots_pb"
require_relative "times"

module Offbeat
  # A cycle cut into slots, and a placement. What is nil has the sidecar's default.
  #
  #   Offbeat::Schedule.new(period: 8 * 3600, slot_count: 96)
  #
  # The sidecar checks the values: a schedule that cannot be raises
  # {InvalidArgument} when it is first used.
  class Schedule
    PLACEMENTS = { hash: :PLACEMENT_HASH, twister: :PLACEMENT_TWISTER, fraction: :PLACEMENT_FRACTION }.freeze
    PROFILES = {
      ruby: :TWISTER_PROFILE_RUBY, ruby_3_0_to_3_1: :TWISTER_PROFILE_RUBY_3_0_TO_3_1,
      python: :TWISTER_PROFILE_PYTHON, php: :TWISTER_PROFILE_PHP
    }.freeze

    attr_reader :period, :slot_count, :placement, :salt, :profile, :bucket_count, :resolution, :anchor_time

    # @param period length of the cycle in seconds, 1 ms to 3,660 days of elapsed time
    #   (a day is 24 hours, whatever the clocks do)
    # @param slot_count slots in a cycle; must divide it. Default: gcd of its seconds and 256
    # @param placement :hash (the default), :twister or :fraction
    # @param salt :hash only: the namespace
    # @param profile :twister only: :ruby (the default), :ruby_3_0_to_3_1, :python or :php
    # @param bucket_count :twister only: 256 (the default) or 65,536
    # @param resolution length of a tick in seconds: 1 (the default) or a whole fraction, down to 1/1000r
    # @param anchor_time when cycle 0 starts. Default: the Unix epoch
    def initialize(period:, slot_count: nil, placement: nil, salt: "", profile: nil, bucket_count: nil,
                   resolution: nil, anchor_time: nil)
      @period, @slot_count, @placement, @salt = period, slot_count, placement, salt
      @profile, @bucket_count, @resolution, @anchor_time = profile, bucket_count, resolution, anchor_time
      freeze
    end

    # The same schedule, later by so many seconds: for kinds of job that must not meet.
    def shifted(offset)
      Schedule.new(period: period, slot_count: slot_count, placement: placement, salt: salt, profile: profile,
                   bucket_count: bucket_count, resolution: resolution,
                   anchor_time: (anchor_time || Time.at(0, in: "UTC")) + offset)
    end

    # The schedule as its message.
    def to_message
      spec = V1::ScheduleSpec.new(period: Times.to_duration("schedule.spec.period", period))
      spec.resolution = Times.to_duration("schedule.spec.resolution", resolution) if resolution
      spec.anchor_time = Times.to_timestamp("schedule.spec.anchor_time", anchor_time) if anchor_time
      set(spec, "slot_count", slot_count)
      set(spec, "bucket_count", bucket_count)
      set(spec, "salt", salt)
      set(spec, "placement", named("placement", placement, PLACEMENTS))
      set(spec, "profile", named("profile", profile, PROFILES))
      V1::Schedule.new(spec: spec)
    end

    private

    def named(name, value, names)
      Offbeat.named("schedule.spec.#{name}", value, names) unless value.nil?
    end

    def set(spec, name, value)
      Offbeat.set_field(spec, name, value, "schedule.spec.#{name}")
    end
  end

  # What a symbol is called in messages; others are refused as the sidecar would.
  def self.named(path, value, names)
    names.fetch(value) do
      raise refused(path, value, "must be one of #{names.keys.map(&:inspect).join(", ")}",
                    reason: "ERROR_REASON_OUT_OF_RANGE")
    end
  end

  # Sets a field of a message; what it cannot hold is refused as the sidecar would.
  def self.set_field(message, name, value, path = name)
    message[name] = value unless value.nil?
  rescue RangeError, TypeError, Google::Protobuf::TypeError, EncodingError => e
    raise refused(path, value, "must be a value that the field can hold (#{e.message})",
                  reason: "ERROR_REASON_OUT_OF_RANGE")
  end
end
