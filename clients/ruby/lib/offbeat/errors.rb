# frozen_string_literal: true

require "json"

module Offbeat
  # The root of the errors of this client; raised itself for answers that this client does not understand.
  #
  # A refusal carries its reason, field, value, what is allowed, and the details;
  # an error about the way to the sidecar has none of them. Match on the class, or
  # on the reason; never on the text.
  class Error < StandardError
    # A name of offbeat.v1.ErrorReason, such as ERROR_REASON_OUT_OF_RANGE.
    attr_reader :reason
    # The path of the field that was refused, such as schedule.spec.slot_count.
    attr_reader :field
    # The value of the field, shortened.
    attr_reader :value
    # The allowed values, with range and unit.
    attr_reader :allowed
    # When to try again, in seconds, if the sidecar said so.
    attr_reader :retry_delay
    # The google.rpc messages that came with the refusal, as hashes with "type" and "debug".
    attr_reader :details

    def initialize(message, reason: "", field: "", value: "", allowed: "", retry_delay: nil, details: [])
      super(message)
      @reason, @field, @value, @allowed = reason, field, value, allowed
      @retry_delay, @details = retry_delay, details
    end
  end

  # A field is out of range, unparsable or contradictory; asking again does not help.
  class InvalidArgument < Error; end

  # Some IDs of a batch were refused; the others are answered, in {#answer}.
  class BadIds < InvalidArgument
    # The result that the call would have returned: {SlotAssignments}, {DueRuns}, a {MigrationPlan} or an {Audit}.
    attr_reader :answer

    def initialize(answer)
      @answer = answer
      first = answer.errors.first
      more = answer.errors.size - 1
      message = "#{first.field}: #{first.value} is refused: #{first.allowed}"
      message += " (and #{more} more)" if more.positive?
      super(message, reason: first.reason, field: first.field, value: first.value, allowed: first.allowed)
    end

    def errors
      answer.errors
    end
  end

  # The requested object does not exist: a spread, a schedule of this name and version.
  class NotFound < Error; end

  # Asked in the wrong state.
  class FailedPrecondition < Error; end

  # A limit is reached: try again after the delay, or with a smaller message.
  class ResourceExhausted < Error; end

  # There is no answer: rescue this to continue without one. It is {Unavailable} or {DeadlineExceeded}.
  class NoAnswer < Error; end

  # The sidecar cannot be reached, or shuts down; retries have been made.
  class Unavailable < NoAnswer; end

  # The sidecar was not asked: the last calls got no answer, and it is tried again after {#retry_delay}. See {Breaker}.
  class CircuitOpen < Unavailable; end

  # The question takes a sidecar, and this client has none (mode :local). The text says why.
  class NeedsSidecar < Error; end

  # TLS failed: an authority, a host name or a certificate is not what it must be, the sidecar's or ours; or
  # what listens there speaks none. Asking again does not help.
  class Untrusted < Error
    def initialize(address, error)
      super("#{address}: TLS failed: do the sidecar's certificate and our tls: fit together? (#{error.message})")
    end
  end

  # The sidecar wants a token, and was given none, or none that it takes.
  class Unauthenticated < Error; end

  # The sidecar does not serve the user of this process over its Unix socket. Asking again does not help.
  class PermissionDenied < Error; end

  # The answer was not complete in time.
  class DeadlineExceeded < NoAnswer; end

  # The time of an attempt is up: the job continues in the lane that `route` names in `next_lane_name`, or has
  # failed for good. Raised by {AttemptDeadline#check!}, in the job: let it pass.
  class AttemptTimedOut < Error
    attr_reader :route

    def initialize(route)
      @route = route
      super("attempt #{route.attempt} reached the timeout of #{route.attempt_timeout.to_f} s " \
            "of lane #{route.lane_name.inspect}")
    end
  end

  BY_CODE = {
    "invalid_argument" => InvalidArgument,
    "not_found" => NotFound,
    "failed_precondition" => FailedPrecondition,
    "resource_exhausted" => ResourceExhausted,
    "unavailable" => Unavailable,
    "unauthenticated" => Unauthenticated,
    "permission_denied" => PermissionDenied,
    "deadline_exceeded" => DeadlineExceeded
  }.freeze
  private_constant :BY_CODE

  # The error that a response with an error's body says.
  def self.error_from(body)
    parsed = JSON.parse(body)
    details = parsed.fetch("details", [])
    debug = details.to_h { |detail| [detail["type"], detail.fetch("debug", {})] }
    info = debug.fetch("google.rpc.ErrorInfo", {})
    metadata = info.fetch("metadata", {})
    delay = debug.dig("google.rpc.RetryInfo", "retryDelay")
    BY_CODE.fetch(parsed["code"], Error).new(
      parsed["message"].to_s,
      reason: info.fetch("reason", ""),
      field: metadata.fetch("field", ""), value: metadata.fetch("value", ""),
      allowed: metadata.fetch("allowed", ""),
      retry_delay: delay && Float(delay.delete_suffix("s")), details: details
    )
  rescue JSON::ParserError
    Error.new("the answer is none of a sidecar: #{body[0, 80].inspect}")
  end

  # The refusal of a value before it is sent, in the sidecar's own words.
  def self.refused(field, value, allowed, reason: "ERROR_REASON_MALFORMED")
    shown = value.inspect[0, 80]
    InvalidArgument.new("#{field}: #{shown} is refused: #{allowed}",
                        reason: reason, field: field, value: shown, allowed: allowed)
  end
end
