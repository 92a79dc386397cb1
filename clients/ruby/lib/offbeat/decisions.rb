# frozen_string_literal: true

require_relative "local/decider"
require_relative "secret"

module Offbeat
  # An answer, and who decided it: :local or :sidecar.
  Answered = Struct.new(:message, :decided_by) do
    # Where these answers were decided: :sidecar, if a sidecar decided any of them.
    def self.by(answers)
      answers.all? { |answered| answered.decided_by == :local } ? :local : :sidecar
    end
  end
  private_constant :Answered

  # Decides whether the client itself or a sidecar answers a request. May be shared by threads.
  class Decisions
    include Undumpable

    attr_reader :mode

    # @param mode one of {Client::MODES}
    # @param schedules the path of a file of schedules, or nil
    # @param clock an object whose `call` returns the current time
    def initialize(mode, schedules, clock)
      @mode, @schedules, @clock = mode, schedules, clock
      @decider = decider unless mode == :remote
    end

    def now
      @clock.call
    end

    # Why a schedule, as its message, needs a sidecar; nil if it needs none.
    def local_refusal(schedule)
      needs = catch(:needs_sidecar) { return (@decider || decider).refusal(schedule) }
      needs.is_a?(Local::Refusal) ? needs.to_error.message : needs
    end

    # The answer to a request, as an {Answered}. Decides the request here or, depending on the mode and the request,
    # yields the number of attempts, so that the block calls the sidecar.
    def answered(method, request)
      if mode == :auto && bulk?(request) && @decider.takes?(method, request)
        begin
          return Answered.new(yield(1), :sidecar)
        rescue Error
          nil # the sidecar would only be faster: the request is now decided, or refused, here
        end
      end
      answer = decided(method, request)
      answer ? Answered.new(answer, :local) : Answered.new(yield(Transport::ATTEMPTS), :sidecar)
    end

    def inspect
      "#<#{self.class} #{mode}>"
    end

    private

    def decider
      Local::Decider.new(schedules: @schedules, clock: @clock)
    end

    # The answer of this process; nil if a sidecar must give it. In the mode :local, it raises an error instead, which
    # says why.
    def decided(method, request)
      return unless @decider

      needs = catch(:needs_sidecar) { return @decider.answer(method, request) }
      return if mode == :auto

      raise needs.is_a?(Local::Refusal) ? needs.to_error : NeedsSidecar.new(needs)
    end

    def bulk?(request)
      ids = request.respond_to?(:ids) && request.ids or return false
      counts = %w[uuids integers decimals texts fractions].map { |name| ids[name].size }
      (ids.packed_uuids.bytesize / 16) + counts.sum >= Client::BULK_IDS
    end
  end
  private_constant :Decisions
end
