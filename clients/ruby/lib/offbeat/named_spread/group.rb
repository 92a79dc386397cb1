# frozen_string_literal: true

require "digest"

module Offbeat
  module Named
    # A group that a producer keeps until it is settled.
    class Group
      PART_BYTES = 1 << 20
      PART_JOBS = 65_536

      attr_reader :id, :job_count, :sha256
      # Where it was first received, if it was: what is known before its first attempt.
      attr_reader :first_receipt
      # The life of the spread in which it was received; nil if no answer has said so.
      attr_accessor :epoch
      # Numbers of jobs that are known to be settled, in pairs.
      attr_accessor :settled_ranges

      def initialize(id, jobs, first_receipt)
        @id, @jobs, @first_receipt = id, jobs, first_receipt
        @job_count, @sha256 = jobs.size, Group.digest(jobs)
        @epoch, @settled_ranges, @commits = nil, [], 0
      end

      # The SHA-256 over each job's length and bytes.
      def self.digest(jobs)
        jobs.each_with_object(Digest::SHA256.new) { |job, sha| sha << [job.bytesize].pack("Q>") << job }.digest
      end

      # The numbers of its parts' first jobs.
      def part_starts
        @part_starts ||= begin
          bytes, count, starts = 0, 0, [0]
          @jobs.each_with_index do |job, index|
            if count.positive? && (bytes + job.bytesize > PART_BYTES || count == PART_JOBS)
              starts << index
              bytes = count = 0
            end
            bytes += job.bytesize
            count += 1
          end
          starts
        end
      end

      # A part, as it is sent now. The last has the commit and, unless this is the first
      # attempt, what an earlier one may have left behind.
      def part(place)
        first, following = part_starts[place, 2]
        part = V1::GroupPart.new(group_id: id, first_index: first, jobs: @jobs[first...following])
        return part if following

        part.commit = V1::GroupCommit.new(job_count: job_count, sha256: sha256)
        if @commits.positive?
          part.first_receipt = first_receipt
          part.settled_ranges += settled_ranges
        end
        @commits += 1
        part
      end

      # Whether the refusal says that no attempt can have been received.
      def never_received?(error)
        return false if epoch
        return true if error.is_a?(InvalidArgument) || error.reason == "ERROR_REASON_GROUP_DIFFERS"

        @commits <= 1
      end
    end
  end
end
