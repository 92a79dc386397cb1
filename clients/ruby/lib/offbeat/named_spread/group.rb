# frozen_string_literal: true

require "digest"

module Offbeat
  module Named
    # A group that a producer keeps until it is settled.
    class Group
      PART_BYTES = 1 << 20
      PART_JOBS = 65_536

      attr_reader :id, :job_count, :sha256
      # The receipt that was known before the first attempt to submit the group.
      attr_reader :first_receipt
      # The epoch in which the group was received; nil until an answer has said so.
      attr_accessor :epoch
      # The indexes of jobs that are known to be settled, as messages.
      attr_accessor :settled_ranges

      def initialize(id, payloads, first_receipt)
        @id, @payloads, @first_receipt = id, payloads, first_receipt
        @job_count, @sha256 = payloads.size, Group.digest(payloads)
        @epoch, @settled_ranges, @commits = nil, [], 0
      end

      # The SHA-256 over each payload's length and bytes.
      def self.digest(payloads)
        payloads.each_with_object(Digest::SHA256.new) { |payload, sha| sha << [payload.bytesize].pack("Q>") << payload }
                .digest
      end

      # The index of the first job of each part.
      def part_starts
        @part_starts ||= begin
          bytes, count, starts = 0, 0, [0]
          @payloads.each_with_index do |payload, index|
            if count.positive? && (bytes + payload.bytesize > PART_BYTES || count == PART_JOBS)
              starts << index
              bytes = count = 0
            end
            bytes += payload.bytesize
            count += 1
          end
          starts
        end
      end

      # The message of a part. The last part has the commit. From the second commit on, the commit also has the first
      # receipt and the ranges of settled jobs, since the sidecar may have received an earlier one.
      def part(place)
        first, following = part_starts[place, 2]
        jobs = @payloads[first...following].map { |payload| V1::SubmittedJob.new(payload: payload) }
        part = V1::GroupPart.new(group_id: id, first_job_index: first, jobs: jobs)
        return part if following

        part.commit = commit
        part
      end

      # Whether this error means that the sidecar has received no attempt.
      def never_received?(error)
        return false if epoch
        return true if error.is_a?(InvalidArgument) || error.reason == "ERROR_REASON_GROUP_DIFFERS"

        @commits <= 1
      end

      private

      def commit
        commit = V1::GroupCommit.new(job_count: job_count, sha256: sha256)
        if @commits.positive?
          commit.first_receipt = first_receipt
          commit.settled_ranges += settled_ranges
        end
        @commits += 1
        commit
      end
    end
  end
end
