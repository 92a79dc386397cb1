# frozen_string_literal: true

module Offbeat
  module Named
    # The calls about one spread. They open the spread if the sidecar does not know it. Only producers open a closed
    # spread again: a consumer that did so would wait for jobs forever. May be shared by threads.
    class Calls
      include Undumpable

      ACTIONS = { ack: :SETTLE_ACTION_ACK, nack: :SETTLE_ACTION_NACK, release: :SETTLE_ACTION_RELEASE,
                  extend_lease: :SETTLE_ACTION_EXTEND_LEASE, dead_letter: :SETTLE_ACTION_DEAD_LETTER }.freeze

      attr_reader :timeout, :name

      def initialize(transport, timeout, name, spec)
        @transport, @timeout, @name, @spec = transport, timeout, name, spec
        @lock, @receipt = Mutex.new, nil
        message(V1::DescribeSpreadRequest) # refuses a name that is not text
      end

      # Opens the spread, unless it is open already. With `leave_closed`, a closed spread stays closed.
      def open(leave_closed: false)
        description = exchange("OpenSpread", { spec: @spec, leave_closed: leave_closed }).description
        receipt = V1::Receipt.new(epoch: description.epoch, lease_duration: description.spec.lease_duration)
        @lock.synchronize { @receipt = receipt }
        description
      end

      # The receipt of the last opening. A producer keeps it with each group that it is about to submit.
      def receipt
        @lock.synchronize { @receipt } || begin
          open
          @lock.synchronize { @receipt }
        end
      end

      # @param wait how long the sidecar may wait before it answers, in seconds
      # @param attempts 1 if the caller itself retries
      def ask(method, fields = {}, wait: nil, attempts: Transport::ATTEMPTS)
        exchange(method, fields, wait: wait, attempts: attempts)
      rescue NotFound => e
        raise unless unknown?(e)

        open(leave_closed: true)
        exchange(method, fields, wait: wait, attempts: attempts)
      end

      # Pulls {PulledJobs}. Their leases count from before the call, plus the time that the sidecar waited.
      def pull(consumer_id, max_pulled_job_count, wait, attempts: Transport::ATTEMPTS)
        asked = Named.now
        fields = { consumer_id: consumer_id, max_pulled_job_count: max_pulled_job_count }
        response = ask("PullJobs", fields, wait: wait, attempts: attempts)
        reason = Fields.symbol(response.empty_reason, "EMPTY_REASON_")
        PulledJobs.new(jobs: jobs(response.leased, asked + Times.from_duration(response.waited_duration)),
                       empty_reason: reason == :unspecified ? nil : reason)
      end

      # Settles jobs, and returns the {SettleResult}s. A settlement is a job or its token, an action and, for :nack and
      # :release, an optional delay.
      def settle(settlements, attempts: Transport::ATTEMPTS)
        same_epoch = settlements.slice_when { |one, other| one[0].epoch != other[0].epoch }
        same_epoch.flat_map { |some| some.each_slice(CALL).to_a }.flat_map { |batch| settle_batch(batch, attempts) }
      end

      def settlement_messages(batch)
        batch.map do |job, action, delay|
          message = V1::JobSettlement.new(sequence: job.sequence, attempt: job.attempt,
                                          action: Offbeat.named("action", action, ACTIONS))
          message.delay = Times.to_duration("delay", delay) if delay
          message
        end
      end

      # The jobs of a message, with leases that began at `lease_start` or later. (The message may be nil if there are no
      # jobs.)
      def jobs(leased, lease_start)
        return [] unless leased

        lease_deadline = lease_start + Times.from_duration(leased.lease_duration)
        leased.jobs.map { |message| LeasedJob.new(message, leased, lease_deadline) }
      end

      # Opens a stream of jobs. It ends when the spread does.
      def converse
        @transport.converse("/offbeat.#{SERVICE}/StreamJobs", nil, opening: timeout)
      end

      # A message that names the spread.
      def message(type, fields = {})
        type.new.tap do |message|
          Offbeat.set_field(message, "spread_name", name)
          fields.each do |field, value|
            value.is_a?(Array) ? add_all(message, field.to_s, value) : Offbeat.set_field(message, field.to_s, value)
          end
        end
      end

      private

      def add_all(message, field, values)
        values.each { |value| message[field] << value }
      rescue RangeError, TypeError, Google::Protobuf::TypeError, EncodingError
        raise Offbeat.refused(field, values, "must be values that the field can hold")
      end

      def exchange(method, fields, wait: nil, attempts: Transport::ATTEMPTS)
        request, response = V1.const_get("#{method}Request"), V1.const_get("#{method}Response")
        question = message(request, fields)
        question.max_wait_duration = Times.to_duration("max_wait_duration", wait) if wait
        response.decode(@transport.call(method, request.encode(question), timeout + (wait || 0),
                                        service: SERVICE, attempts: attempts))
      end

      # In a spread that the sidecar does not know, every lease is stale.
      def settle_batch(batch, attempts)
        sent = Named.now
        fields = { epoch: batch[0][0].epoch, settlements: settlement_messages(batch) }
        results = exchange("SettleJobs", fields, attempts: attempts).results.map { |result| SettleResult.of(result) }
        batch.zip(results) do |(job, *), result|
          job.extended(sent, result.lease_end_time) if job.is_a?(LeasedJob) && result.outcome == :extended
        end
        results
      rescue NotFound => e
        raise unless unknown?(e)

        batch.map { SettleResult.new(outcome: :stale) }
      end

      def unknown?(error)
        error.reason == "ERROR_REASON_UNKNOWN_SPREAD"
      end
    end
  end
end
