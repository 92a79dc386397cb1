# frozen_string_literal: true

require_relative "local/decider"
require_relative "secret"

module Offbeat
  # An answer, and who decided it: :local or :sidecar.
  Answered = Struct.new(:message, :decided_by) do
    # Who decided all of these: a sidecar, if it has decided one.
    def self.by(answers)
      answers.all? { |answered| answered.decided_by == :local } ? :local : :sidecar
    end
  end
  private_constant :Answered

  # Who answers the requests of a client: the client itself or a sidecar. May be shared by threads.
  class Decisions
    include Undumpable

    attr_reader :mode

    # @param mode one of {Client::MODES}
    # @param schedules the path of a file of schedules, or nil
    # @param clock answers `call` with the time that is now
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

    # Decides a request here or, where the mode and the request want it, yields how many attempts to make to ask the
    # sidecar: an {Answered}.
    def answered(method, request)
      if mode == :auto && bulk?(request) && @decider.takes?(method, request)
        begin
          return Answered.new(yield(1), :sidecar)
        rescue Error
          nil # it would be quicker; but what it refuses is refused here too, and for the rest nobody has to wait
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

    # The answer, if it takes no sidecar.
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
