# frozen_string_literal: true

module Offbeat
  # Where a job runs. The attempt counts from 1; `attempt_timeout` is in seconds, nil where there is none;
  # `lane_on_timeout` follows the timeout, nil if the job has then failed for good; `reason` is :untried,
  # :demoted, :predicted_slow or :idle_worker; `resumes` says that the job goes on where it was suspended.
  # {AttemptDeadline} holds a job to its timeout.
  LaneRoute = Value.define(:lane, :attempt, :attempt_timeout, :lane_on_timeout, :reason, :resumes) do
    def self.of(message)
      new(lane: message.lane, attempt: message.attempt,
          attempt_timeout: Times.from_optional(message.attempt_timeout),
          lane_on_timeout: Fields.name_or_nil(message.lane_on_timeout),
          reason: Fields.symbol(message.reason, "ROUTE_REASON_"), resumes: message.resumes)
    end
  end

  # A job that is not tried again: the lane whose timeout it reached, with no slower lane that has workers; the
  # timeout that it exceeded there, in seconds; and the same for people.
  PermanentFailure = Value.define(:last_lane, :exceeded_timeout, :message) do
    def self.of(message)
      new(last_lane: message.last_lane, exceeded_timeout: Times.from_optional(message.exceeded_timeout),
          message: message.message)
    end
  end

  # Who runs what: `placements` in the order of choice, and the `failures`, jobs that are not tried again.
  DispatchedJobs = Value.define(:placements, :failures) do
    def self.of(message)
      new(placements: message.placements.map { |placement| JobPlacement.of(placement) },
          failures: message.failures.map { |failed| FailedJob.of(failed) })
    end
  end

  # A job on a worker: its place in the question, from 0, its ID, and its {LaneRoute}.
  JobPlacement = Value.define(:job_index, :job_id, :route) do
    def self.of(message)
      new(job_index: message.job_index, job_id: message.job_id, route: LaneRoute.of(message.route))
    end
  end

  # A job that is not tried again: its place in the question, from 0, its ID, and its {PermanentFailure}.
  FailedJob = Value.define(:job_index, :job_id, :failure) do
    def self.of(message)
      new(job_index: message.job_index, job_id: message.job_id, failure: PermanentFailure.of(message.failure))
    end
  end
end
