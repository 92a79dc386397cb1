# frozen_string_literal: true

require "json"

module Offbeat
  # The base class of the errors of this client. It is itself raised for answers that this client does not understand,
  # and for misuse, such as a settlement after its consumer was closed.
  #
  # A refusal has its reason, field, value, what is allowed, and the details; an error on the way to the sidecar has
  # none of them. Match on the class or on the reason, never on the text.
  class Error < StandardError
    # A name of offbeat.v1.ErrorReason, such as ERROR_REASON_OUT_OF_RANGE.
    attr_reader :reason
    # The path of the field that was refused, such as schedule.spec.slot_count.
    attr_reader :field
    # The value of the field, shortened.
    attr_reader :value
    # The allowed values, with range and unit.
    attr_reader :allowed
    # After how many seconds to try again; nil if that is not known.
    attr_reader :retry_delay
    # The google.rpc messages that came with the refusal, as hashes with "type" and "debug".
    attr_reader :details

    def initialize(message, reason: "", field: "", value: "", allowed: "", retry_delay: nil, details: [])
      super(message)
      @reason, @field, @value, @allowed = reason, field, value, allowed
      @retry_delay, @details = retry_delay, details
    end
  end

  # A field is out of range, malformed or contradictory. Repeating the call does not help.
  class InvalidArgument < Error; end

  # Some IDs of a batch were refused. {#answer} has the answer for the others.
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

  # The requested object does not exist, such as a spread, or a schedule of this name and version.
  class NotFound < Error; end

  # The requested object is in a state that does not allow the call.
  class FailedPrecondition < Error; end

  # A limit is reached: try again after {#retry_delay}, or with a smaller message.
  class ResourceExhausted < Error; end

  # No answer came: rescue this to continue without one. It is {Unavailable} or {DeadlineExceeded}.
  class NoAnswer < Error; end

  # The sidecar cannot be reached or is shutting down, even after retries.
  class Unavailable < NoAnswer; end

  # The sidecar was not called, because the last calls got no answer. It is tried again after {#retry_delay}. See
  # {Breaker}.
  class CircuitOpen < Unavailable; end

  # The request needs a sidecar, and this client has none (mode :local). The message says why.
  class NeedsSidecar < Error; end

  # TLS failed: an authority, a host name or a certificate of the sidecar or of the client is wrong, or the server does
  # not speak TLS. Repeating the call does not help.
  class Untrusted < Error
    def initialize(address, error)
      super("#{address}: TLS failed: do the sidecar's certificate and our tls: fit together? (#{error.message})")
    end
  end

  # The sidecar requires a token, and the call had none, or one that the sidecar does not accept.
  class Unauthenticated < Error; end

  # The sidecar does not serve the user of this process over its Unix socket. Repeating the call does not help.
  class PermissionDenied < Error; end

  # The answer was not complete in time.
  class DeadlineExceeded < NoAnswer; end

  # An attempt has reached its timeout. The job continues in the lane `route.next_lane_name`; if that is nil, it has
  # failed permanently. {AttemptDeadline#check!} raises this inside the job: do not rescue it there.
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

  # The error that the body of a response describes.
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

  # The error for a value that is refused before it is sent, in the form of the sidecar's refusals.
  def self.refused(field, value, allowed, reason: "ERROR_REASON_MALFORMED")
    shown = value.inspect[0, 80]
    InvalidArgument.new("#{field}: #{shown} is refused: #{allowed}",
                        reason: reason, field: field, value: shown, allowed: allowed)
  end
end
