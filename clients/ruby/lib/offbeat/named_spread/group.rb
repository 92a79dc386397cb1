# frozen_string_literal: true

require "digest"

module Offbeat
  module Named
    # A group that a producer keeps until it is settled.
    class Group
      PART_BYTES = 1 << 20
      PART_JOBS = 65_536

      attr_reader :id, :job_count, :sha256
      # The receipt of its first attempt: what is known before it.
      attr_reader :first_receipt
      # The epoch in which it was received; nil if no answer has said so.
      attr_accessor :epoch
      # Messages: the indexes of jobs that are known to be settled.
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

      # The indexes of its parts' first jobs.
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

      # A part, as it is sent now. The last has the commit and, unless this is the first
      # attempt, what an earlier one may have left behind.
      def part(place)
        first, following = part_starts[place, 2]
        jobs = @payloads[first...following].map { |payload| V1::SubmittedJob.new(payload: payload) }
        part = V1::GroupPart.new(group_id: id, first_job_index: first, jobs: jobs)
        return part if following

        part.commit = commit
        part
      end

      # Whether the refusal says that no attempt can have been received.
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
