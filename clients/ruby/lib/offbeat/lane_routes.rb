# frozen_string_literal: true

module Offbeat
  # The lane of a job. `attempt` counts from 1. `attempt_timeout` is in seconds; nil if there is none. `next_lane_name`
  # is the lane that follows the timeout; nil if the job then fails permanently. `reason` is :untried, :demoted,
  # :predicted_slow or :idle_worker. `resumes` says that the job continues where it was suspended. {AttemptDeadline}
  # enforces the timeout.
  LaneRoute = Value.define(:lane_name, :attempt, :attempt_timeout, :next_lane_name, :reason, :resumes) do
    def self.of(message)
      new(lane_name: message.lane_name, attempt: message.attempt,
          attempt_timeout: Times.from_optional(message.attempt_timeout),
          next_lane_name: Fields.name_or_nil(message.next_lane_name),
          reason: Fields.symbol(message.reason, "ROUTE_REASON_"), resumes: message.resumes)
    end
  end

  # Why a job is not tried again: the lane whose timeout it exceeded (no slower lane has workers), that timeout in
  # seconds, and the same as a sentence.
  PermanentFailure = Value.define(:last_lane_name, :exceeded_timeout, :message) do
    def self.of(message)
      new(last_lane_name: message.last_lane_name, exceeded_timeout: Times.from_optional(message.exceeded_timeout),
          message: message.message)
    end
  end

  # Which job runs where: `dispatches` in the order of choice, and `failures`, the jobs that are not tried again.
  DispatchedJobs = Value.define(:dispatches, :failures) do
    def self.of(message)
      new(dispatches: message.dispatches.map { |dispatch| JobDispatch.of(dispatch) },
          failures: message.failures.map { |failed| FailedJob.of(failed) })
    end
  end

  # A job on a worker: its index in the call, from 0, its ID, and its {LaneRoute}.
  JobDispatch = Value.define(:job_index, :job_id, :route) do
    def self.of(message)
      new(job_index: message.job_index, job_id: message.job_id, route: LaneRoute.of(message.route))
    end
  end

  # A job that is not tried again: its index in the call, from 0, its ID, and its {PermanentFailure}.
  FailedJob = Value.define(:job_index, :job_id, :failure) do
    def self.of(message)
      new(job_index: message.job_index, job_id: message.job_id, failure: PermanentFailure.of(message.failure))
    end
  end
end
