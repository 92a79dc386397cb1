# frozen_string_literal: true

module Offbeat
  module Named
    # The calls about one spread, which is opened where it is not known. Only producers open it
    # before: anybody else would open one anew that is closed, and wait there for ever.
    # May be shared by threads.
    class Calls
      include Undumpable

      VERDICTS = { ack: :VERDICT_ACK, nack: :VERDICT_NACK, release: :VERDICT_RELEASE, extend: :VERDICT_EXTEND,
                   terminate: :VERDICT_TERMINATE }.freeze

      attr_reader :timeout, :name

      def initialize(transport, timeout, name, spec)
        @transport, @timeout, @name, @spec = transport, timeout, name, spec
        @lock, @receipt = Mutex.new, nil
        message(V1::DescribeSpreadRequest) # refuses a name that is none
      end

      # Opens the spread, or finds it open.
      def open
        description = exchange("OpenSpread", { spec: @spec }).description
        receipt = V1::Receipt.new(epoch: description.epoch, lease: description.spec.lease)
        @lock.synchronize { @receipt = receipt }
        description
      end

      # Of the last opening: a group that is to be submitted is kept with it.
      def receipt
        @lock.synchronize { @receipt } || begin
          open
          @lock.synchronize { @receipt }
        end
      end

      # @param wait how long the sidecar may let us wait, in seconds
      # @param attempts 1 where the caller tries again itself
      def ask(method, fields = {}, wait: nil, attempts: Transport::ATTEMPTS)
        exchange(method, fields, wait: wait, attempts: attempts)
      rescue NotFound => e
        raise unless unknown?(e)

        open
        exchange(method, fields, wait: wait, attempts: attempts)
      end

      # Jobs, their leases counted from before they were asked for and what the sidecar has
      # waited; and whether the spread has ended.
      def pull(consumer, max_jobs, wait, attempts: Transport::ATTEMPTS)
        asked = Named.now
        response = ask("PullJobs", { consumer: consumer, max_jobs: max_jobs }, wait: wait, attempts: attempts)
        [jobs(response.leased, asked + Times.from_duration(response.waited)), response.ended]
      end

      # What came of verdicts, each a job, a verdict and, for :nack, a delay or nothing.
      def settle(verdicts, attempts: Transport::ATTEMPTS)
        same_epoch = verdicts.slice_when { |one, other| one[0].epoch != other[0].epoch }
        same_epoch.flat_map { |some| some.each_slice(CALL).to_a }.flat_map { |batch| settle_batch(batch, attempts) }
      end

      def verdict_messages(batch)
        batch.map do |job, verdict, delay|
          message = V1::JobVerdict.new(sequence: job.sequence, attempt: job.attempt,
                                       verdict: Offbeat.named("verdict", verdict, VERDICTS))
          message.delay = Times.to_duration("delay", delay) if delay
          message
        end
      end

      # The jobs, which were not lent before this time.
      def jobs(leased, lent)
        lease = Times.from_duration(leased.lease)
        leased.jobs.map { |message| LeasedJob.new(message, leased.epoch, lease, lent + lease) }
      end

      # A stream of jobs; it ends with the spread.
      def converse
        @transport.converse("/offbeat.v1.#{SERVICE}/StreamJobs", nil, opening: timeout)
      end

      # A message that names the spread.
      def message(type, fields = {})
        type.new.tap do |message|
          Offbeat.set_field(message, "spread", name)
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
        question.wait = Times.to_duration("wait", wait) if wait
        response.decode(@transport.call(method, request.encode(question), timeout + (wait || 0),
                                        service: SERVICE, attempts: attempts))
      end

      # What the sidecar knows nothing of is stale.
      def settle_batch(batch, attempts)
        sent = Named.now
        fields = { epoch: batch[0][0].epoch, verdicts: verdict_messages(batch) }
        settlements = exchange("SettleJobs", fields, attempts: attempts).settlements.to_a
        settlements.map! { |settlement| Fields.symbol(settlement, "SETTLEMENT_") }
        batch.zip(settlements) { |(job, *), settlement| job.extended(sent) if settlement == :extended }
        settlements
      rescue NotFound => e
        raise unless unknown?(e)

        batch.map { :stale }
      end

      def unknown?(error)
        error.reason == "ERROR_REASON_UNKNOWN_SPREAD"
      end
    end
  end
end
