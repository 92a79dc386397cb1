# frozen_string_literal: true

module Offbeat
  # Asks for the jobs of groups, spread.
  class Client
    # The jobs of groups, so that jobs of one group stay `feeder_count` turns apart: an
    # Enumerable of {SpreadTurn}s, with a certificate when they have all been taken.
    #
    # Groups and jobs are pulled when they are needed: up to `job_window` jobs (256 by
    # default) of each group that is open, and up to `group_window` groups (0 by default)
    # before a feeder needs them. `max_open_groups` and `on_shortage` (:emit or :wait)
    # belong to the policy :cooldown, whose groups must have a size.
    def spread(groups, feeder_count:, policy: nil, max_open_groups: nil, on_shortage: nil, job_window: nil,
               group_window: nil, timeout: nil)
      spec = V1::SpreadSpec.new
      spec.policy = Offbeat.named("spec.policy", policy, Spread::POLICIES) if policy
      spec.on_shortage = Offbeat.named("spec.on_shortage", on_shortage, Spread::SHORTAGES) if on_shortage
      { feeder_count: feeder_count, max_open_groups: max_open_groups, job_window: job_window,
        group_window: group_window }.each { |name, value| Offbeat.set_field(spec, name.to_s, value, "spec.#{name}") }
      spread_from(groups, V1::SpreadRequest.new(spec: spec), timeout)
    end

    # Goes on with a spread behind the turns that were taken, by its `resume_token`. The
    # groups must be the same, in the same order: they are pulled from the first on, and what
    # had its turn is dropped. Other groups are refused ({FailedPrecondition}) before a turn.
    def resume_spread(groups, resume_token, timeout: nil)
      token = V1::ResumeToken.decode(resume_token)
      spread_from(groups, V1::SpreadRequest.new(resume_token: token), timeout)
    rescue Google::Protobuf::ParseError, TypeError
      raise Offbeat.refused("resume_token", resume_token, "must be a spread's resume_token")
    end

    # A spread that outlives calls and is shared by its name: producers hand over groups, and
    # consumers draw their jobs. Nothing connects yet: calls open it where it is needed, and again
    # after a restart of the sidecar.
    #
    # `policy` is :round_robin, the default, or :cooldown, with `max_open_groups`. A job is
    # lent for `lease` seconds, at most `max_attempts` times.
    def named_spread(name, feeder_count:, policy: nil, max_open_groups: nil, lease: nil, max_attempts: nil,
                     max_consumer_leases: nil, max_groups: nil, max_jobs: nil, max_bytes: nil)
      spec = V1::NamedSpreadSpec.new
      spec.policy = Offbeat.named("spec.policy", policy, Spread::POLICIES) if policy
      spec.lease = Times.to_duration("spec.lease", lease) if lease
      { feeder_count: feeder_count, max_open_groups: max_open_groups, max_attempts: max_attempts,
        max_consumer_leases: max_consumer_leases, max_groups: max_groups, max_jobs: max_jobs,
        max_bytes: max_bytes }.each { |field, value| Offbeat.set_field(spec, field.to_s, value, "spec.#{field}") }
      NamedSpread.new(Named::Calls.new(@transport, @timeout, name, spec))
    end

    # The named spreads, by name, as an Enumerator of {SpreadDescription}s that asks for a
    # page when it is needed.
    def list_spreads
      Enumerator.new do |spreads|
        request = V1::ListSpreadsRequest.new
        loop do
          bytes = @transport.call("ListSpreads", request.class.encode(request), @timeout, service: Named::SERVICE)
          page = V1::ListSpreadsResponse.decode(bytes)
          page.spreads.each { |message| spreads << SpreadDescription.of(message) }
          break unless page.has_more

          request.after_spread = page.spreads.to_a.last.spread
        end
      end
    end

    private

    def spread_from(groups, first, timeout)
      seconds = timeout && checked_timeout(timeout)
      converse = -> { @transport.converse("/offbeat.v1.SpreadService/Spread", seconds, opening: seconds || @timeout) }
      Spread.new(groups, first, converse)
    end
  end
end
