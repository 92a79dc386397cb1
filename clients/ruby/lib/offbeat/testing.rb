# frozen_string_literal: true

require_relative "../offbeat"

module Offbeat
  # Helpers for the tests of applications, which then need no sidecar: a client that decides in this process, by a clock
  # that the test sets. The rest of the gem does not require this file.
  #
  #   require "offbeat/testing"
  #
  # In Minitest include {Minitest} in the test class; for RSpec require "offbeat/testing/rspec".
  module Testing
    # A clock that stands still until a test sets it.
    class Clock
      # The time that it shows.
      attr_reader :now
      alias call now

      def initialize(now = Time.now)
        self.now = now
      end

      # @param time a Time, or an object that converts to one
      def now=(time)
        @now = Times.to_time("now", time)
      end

      # Moves the clock forward by a number of seconds; with a block, only while the block runs.
      def travel(seconds)
        before = now
        self.now = now + seconds
        return now unless block_given?

        begin
          yield now
        ensure
          self.now = before
        end
      end
    end

    # A client that asks no sidecar. Calls that need one raise {NeedsSidecar}.
    #
    #   client = Offbeat::Testing::FakeClient.new(now: Time.utc(2026, 1, 1))
    #   client.clock.travel(3600)
    class FakeClient < Client
      attr_reader :clock

      # @param now the time that its clock shows, or a {Clock}
      # @param schedules as in {Client#initialize}
      def initialize(now: Time.now, schedules: nil)
        @clock = now.is_a?(Clock) ? now : Clock.new(now)
        super(mode: :local, schedules: schedules, clock: @clock)
      end
    end

    # Methods for tests: {#offbeat}, a client, and {#offbeat_clock}, its clock. During a test, clients that the
    # application makes also decide in this process, by the same clock.
    module Helpers
      # A {FakeClient}, the same one throughout a test.
      def offbeat
        @offbeat ||= FakeClient.new(now: offbeat_clock)
      end

      # The clock of the test, set to the time at which it began.
      def offbeat_clock
        @offbeat_clock ||= Clock.new
      end

      private

      def begin_offbeat
        settings = Offbeat.configuration
        @offbeat_before = [settings.mode, settings.clock]
        settings.mode, settings.clock = :local, offbeat_clock
      end

      def end_offbeat
        settings = Offbeat.configuration
        settings.mode, settings.clock = @offbeat_before
      end
    end

    # {Helpers} for the test cases of Minitest and ActiveSupport that include it.
    module Minitest
      include Helpers

      # Called by Minitest.
      def before_setup
        begin_offbeat
        super
      end

      # Called by Minitest.
      def after_teardown
        super
      ensure
        end_offbeat
      end
    end
  end
end
