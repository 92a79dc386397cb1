# frozen_string_literal: true

module Offbeat
  # Submits groups to a named spread, and keeps each group until it is settled: if a restart of the sidecar loses the
  # group, the producer submits it again. Belongs to one thread.
  class Producer
    FIRST_PAUSE = 0.1 # seconds
    LONGEST_WAIT = 1 # seconds
    IDS_BYTES = 128 << 10 # of group IDs in one call
    private_constant :FIRST_PAUSE, :LONGEST_WAIT, :IDS_BYTES

    def initialize(calls, patience)
      @calls, @patience = calls, Named::Patience.new(patience, FIRST_PAUSE)
      @groups, @settled = {}, {}
      @epoch, @epoch_changed = nil, false
    end

    # The IDs of submitted groups that are not known to be settled.
    def unsettled
      @groups.keys
    end

    # Submits a group: its ID, and the payloads of its jobs as Strings of bytes. Submitting the same group again changes
    # nothing. While the sidecar is full or cannot be reached, retries for up to `patience` seconds. Even if that fails,
    # the group is kept, since the sidecar may have received it.
    def submit(group_id, payloads)
      group = keep(group_id, bytes_of(payloads))
      begin
        status = deliver(group)
      rescue InvalidArgument, FailedPrecondition => e
        @groups.delete(group.id) if group.never_received?(e)
        raise
      end
      submit_lost
      status
    end

    # Waits until all groups are settled, and submits lost groups again. Returns the last {GroupStatus} of each group
    # that was settled since the last wait, by group ID. With a timeout, raises {DeadlineExceeded} after it; the next
    # wait then returns the groups that were settled until then, too.
    def wait(timeout: nil)
      deadline = timeout && (Named.now + Named.span("timeout", timeout))
      until @groups.empty?
        batches(@groups.keys).each { |ids| look(ids, deadline) }
        submit_lost(deadline)
        next unless deadline && Named.now >= deadline && @groups.any?

        raise DeadlineExceeded, "#{@groups.size} groups are not settled after #{timeout} s"
      end
      @settled.tap { @settled = {} }
    end

    private

    def bytes_of(payloads)
      raise Offbeat.refused("payloads", payloads, "must be an Enumerable of Strings") unless payloads.respond_to?(:each_entry)

      payloads.each_entry.to_a.each_with_index.map do |payload, index|
        raise Offbeat.refused("payloads[#{index}]", payload, "must be a String of bytes") unless payload.is_a?(String)

        payload.b
      end
    end

    # The group with this ID that is kept already; if there is none, a new one, which is kept from now on.
    def keep(group_id, payloads)
      check(group_id)
      known = @groups[group_id]
      return @groups[group_id] = Named::Group.new(group_id, payloads, receipt) unless known
      return known if known.sha256 == Named::Group.digest(payloads)

      raise FailedPrecondition.new("group_id: #{group_id.inspect} was submitted with other jobs",
                                   reason: "ERROR_REASON_GROUP_DIFFERS", field: "group_id", value: group_id,
                                   allowed: "must have the jobs with which it was submitted before, or another ID")
    end

    def check(group_id)
      Offbeat.set_field(V1::GroupPart.new, "group_id", group_id)
      raise Offbeat.refused("group_id", group_id, "must be a String") unless group_id.is_a?(String)
    end

    def receipt
      @patience.attempt { @calls.receipt }
    end

    # Sends a group, part by part. If the sidecar has lost earlier parts, starts with the first one again.
    def deliver(group, deadline = nil)
      place, status, lost_since = 0, nil, nil
      while place < group.part_starts.size
        begin
          status = send_part(group, place, deadline)
          place += 1
        rescue InvalidArgument => e
          raise unless place.positive? && e.field.end_with?("first_job_index")

          lost_since ||= Named.now
          raise if Named.now - lost_since > @patience.seconds

          place = 0
        end
      end
      status
    end

    def send_part(group, place, deadline)
      # Without retries of the transport: the commit of each attempt but the first must say that there was an earlier
      # one.
      response = @patience.attempt(deadline) do
        @calls.ask("SubmitGroups", { groups: [group.part(place)] }, attempts: 1)
      end
      message = response.groups.first
      take(group, message, response.receipt.epoch) unless message.state == :GROUP_STATE_PARTIAL
      GroupStatus.of(message)
    end

    # Records the state of a group.
    def take(group, message, epoch)
      @epoch_changed ||= !@epoch.nil? && epoch != @epoch
      @epoch = epoch
      if message.state == :GROUP_STATE_SETTLED
        @groups.delete(group.id)
        @settled[group.id] = GroupStatus.of(message)
      else
        group.epoch, group.settled_ranges = epoch, message.settled_ranges.to_a
      end
    end

    # Submits groups again that were received in an earlier epoch, and so lost.
    def submit_lost(deadline = nil)
      return unless @epoch_changed

      until (lost = @groups.each_value.select { |group| group.epoch && group.epoch != @epoch }).empty?
        lost.each { |group| deliver(group, deadline) }
      end
      @epoch_changed = false
    end

    # Waits up to a second until one of the groups is settled or lost; submits lost groups again.
    def look(ids, deadline)
      wait = deadline ? (deadline - Named.now).clamp(0, LONGEST_WAIT).floor(3) : LONGEST_WAIT
      response = @patience.attempt(deadline) do
        @calls.ask("WaitForGroups", { group_ids: ids }, wait: wait, attempts: 1)
      end
      response.groups.each do |message|
        group = @groups[message.group_id] or next
        case message.state
        when :GROUP_STATE_UNKNOWN, :GROUP_STATE_PARTIAL
          settled_long_ago?(group, response.epoch) || deliver(group, deadline)
        else take(group, message, response.epoch)
        end
      end
    end

    # Whether a group that the sidecar does not know was settled: if it was received in this epoch, it was settled so
    # long ago that the sidecar has forgotten it.
    def settled_long_ago?(group, epoch)
      return false unless group.epoch == epoch

      @groups.delete(group.id)
      count = group.job_count
      @settled[group.id] = GroupStatus.new(group_id: group.id, state: :settled, job_count: count,
                                           settled_job_count: count, dead_letter_count: 0, settled_ranges: [])
    end

    # Cuts IDs into batches that fit into one call and its message.
    def batches(ids)
      ids.each_slice(Named::CALL).flat_map do |slice|
        bytes = 0
        slice.slice_before do |id|
          bytes += id.bytesize + 3
          (bytes > IDS_BYTES).tap { |full| bytes = id.bytesize + 3 if full }
        end.to_a
      end
    end
  end
end
