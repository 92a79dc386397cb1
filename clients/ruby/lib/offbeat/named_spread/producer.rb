# frozen_string_literal: true

module Offbeat
  # Submits groups to a named spread, and keeps each until it is settled: a restart of the
  # sidecar loses them, and they are submitted again. Belongs to one thread.
  class Producer
    FIRST_PAUSE = 0.1 # seconds
    LONGEST_WAIT = 1 # seconds
    IDS_BYTES = 128 << 10 # of one call
    private_constant :FIRST_PAUSE, :LONGEST_WAIT, :IDS_BYTES

    def initialize(calls, patience)
      @calls, @patience = calls, Named::Patience.new(patience, FIRST_PAUSE)
      @groups, @settled = {}, {}
      @epoch, @epoch_changed = nil, false
    end

    # The IDs of groups that were submitted, and not answered as settled.
    def unsettled
      @groups.keys
    end

    # Submits a group: its ID, and the payloads of its jobs as Strings of bytes. Submitting the same again
    # changes nothing. While the sidecar is full or cannot be reached, tries again for as long as the
    # patience lasts; even then the group is kept, since it may have been received.
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

    # Waits until all groups are settled, and submits again those that were lost. The last
    # status of each group that was settled since the last wait, by ID. With a timeout, raises
    # {DeadlineExceeded} after it; nothing is forgotten then.
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

    # The group as it was submitted before, or kept from now on.
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

    # Sends a group, part by part; from the first again if the sidecar has lost the others.
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
      # One attempt at a time: each but the first must say that there was another.
      response = @patience.attempt(deadline) do
        @calls.ask("SubmitGroups", { groups: [group.part(place)] }, attempts: 1)
      end
      message = response.groups.first
      take(group, message, response.receipt.epoch) unless message.state == :GROUP_STATE_PARTIAL
      GroupStatus.of(message)
    end

    # Keeps what a group is now.
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

    # Submits groups again that were received in an earlier epoch.
    def submit_lost(deadline = nil)
      return unless @epoch_changed

      until (lost = @groups.each_value.select { |group| group.epoch && group.epoch != @epoch }).empty?
        lost.each { |group| deliver(group, deadline) }
      end
      @epoch_changed = false
    end

    # Waits until one of the groups is settled or lost, and sees to those.
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

    # A group that was received in this epoch and is unknown now was settled so long ago that it was forgotten.
    def settled_long_ago?(group, epoch)
      return false unless group.epoch == epoch

      @groups.delete(group.id)
      count = group.job_count
      @settled[group.id] = GroupStatus.new(group_id: group.id, state: :settled, job_count: count,
                                           settled_job_count: count, dead_letter_count: 0, settled_ranges: [])
    end

    # As many IDs as a call and its message take.
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
