# frozen_string_literal: true

module Offbeat
  # Spreads the jobs of groups.
  class Client
    # The jobs of groups, spread so that jobs of one group stay `feeder_count` turns apart: an Enumerable of
    # {SpreadTurn}s, which has a certificate once all turns have been taken.
    #
    # Groups and jobs are pulled when they are needed.
    #
    # @param feeder_count how many groups take turns: a few more than the number of workers is a good value
    # @param policy :round_robin, the default, or :cooldown, whose groups must have a size
    # @param max_open_group_count with :cooldown only: the most groups that are open at once. Default: 1,024, or
    #   feeder_count if that is more
    # @param on_shortage with :cooldown only: :emit, the default, or :wait
    # @param job_window how many jobs of each open group are pulled ahead. Default: 256
    # @param group_window how many groups are pulled before a feeder needs them. Default: 0
    def spread(groups, feeder_count:, policy: nil, max_open_group_count: nil, on_shortage: nil, job_window: nil,
               group_window: nil, timeout: nil)
      order = SpreadOrder.new(policy: policy, feeder_count: feeder_count, max_open_group_count: max_open_group_count)
      spec = V1::SpreadSpec.new(order: order.to_message("spec.order"))
      spec.on_shortage = Offbeat.named("spec.on_shortage", on_shortage, Spread::SHORTAGES) if on_shortage
      { job_window: job_window, group_window: group_window }
        .each { |name, value| Offbeat.set_field(spec, name.to_s, value, "spec.#{name}") }
      start = SpreadStart.new(V1::SpreadRequest.new(spec: spec), sized: policy == :cooldown)
      spread_from(groups, start, timeout)
    end

    # Continues a spread after the turns that were taken, by its `resume_token`. The groups must be the same, in the
    # same order: they are pulled from the first one on, and jobs that had their turn are discarded. Other groups are
    # refused ({FailedPrecondition}) before the first new turn.
    def resume_spread(groups, resume_token, timeout: nil)
      start = SpreadStart.parse(resume_token) or
        raise Offbeat.refused("resume_token", resume_token, "must be a spread's resume_token")
      spread_from(groups, start, timeout)
    end

    # A spread that outlives calls and is shared by its name: producers submit groups, and consumers pull their jobs.
    # This makes no connection: later calls open the spread if the sidecar does not know it, also after a restart of the
    # sidecar.
    #
    # @param feeder_count how many groups take turns
    # @param policy :round_robin, the default, or :cooldown
    # @param max_open_group_count with :cooldown only
    # @param lease_duration how long a lease lasts, in seconds. Default: 30
    # @param max_attempt_count leases of a job before it becomes a dead letter. Default: 5
    # @param max_consumer_lease_count jobs that one consumer may hold at once. Default: 1,024
    # @param max_group_count groups at once. Default: 65,536
    # @param max_job_count jobs at once, dead letters included. Default: 1,000,000
    # @param max_byte_count bytes of payloads at once. Default: 64 MiB
    def named_spread(name, feeder_count:, policy: nil, max_open_group_count: nil, lease_duration: nil,
                     max_attempt_count: nil, max_consumer_lease_count: nil, max_group_count: nil, max_job_count: nil,
                     max_byte_count: nil)
      order = SpreadOrder.new(policy: policy, feeder_count: feeder_count, max_open_group_count: max_open_group_count)
      limits = SpreadLimits.new(max_attempt_count: max_attempt_count,
                                max_consumer_lease_count: max_consumer_lease_count, max_group_count: max_group_count,
                                max_job_count: max_job_count, max_byte_count: max_byte_count)
      spec = V1::NamedSpreadSpec.new(order: order.to_message("spec.order"), limits: limits.to_message("spec.limits"))
      spec.lease_duration = Times.to_duration("spec.lease_duration", lease_duration) if lease_duration
      NamedSpread.new(Named::Calls.new(@transport, @timeout, name, spec))
    end

    # The named spreads, by name, as an Enumerator of {SpreadDescription}s that fetches pages on demand.
    def list_spreads(timeout: nil)
      Enumerator.new do |spreads|
        request = V1::ListSpreadsRequest.new
        loop do
          page = call("ListSpreads", request, V1::ListSpreadsResponse, timeout, service: Named::SERVICE)
          page.spreads.each { |message| spreads << SpreadDescription.of(message) }
          break if page.next_page_token.empty?

          request.page_token = page.next_page_token
        end
      end
    end

    private

    def spread_from(groups, start, timeout)
      seconds = timeout && checked_timeout(timeout)
      converse = -> { @transport.converse("/offbeat.v1.SpreadService/Spread", seconds, opening: seconds || @timeout) }
      Spread.new(groups, start, converse)
    end
  end
end
