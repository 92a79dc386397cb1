# frozen_string_literal: true

require_relative "v1/named_spread_pb"
require_relative "named_spread/answers"
require_relative "named_spread/patience"
require_relative "named_spread/calls"
require_relative "named_spread/lease_token"
require_relative "named_spread/leased_job"
require_relative "named_spread/pull_source"
require_relative "named_spread/stream_source"
require_relative "named_spread/consumer"
require_relative "named_spread/group"
require_relative "named_spread/producer"
require_relative "named_spread/pump"

module Offbeat
  # A spread that producers and consumers share by its name. May be shared by threads; its
  # producers, consumers and pumps may not.
  #
  # Producers open the spread. Other calls open it if the sidecar does not know it: before the first producer, and after
  # a restart of the sidecar.
  class NamedSpread
    def initialize(calls)
      @calls = calls
    end

    def name
      @calls.name
    end

    # Opens the spread, or finds it open with the same spec.
    def open
      SpreadDescription.of(@calls.open)
    end

    # Changes the limits of the open spread that are given here; the others stay. A limit may be set below what the
    # spread holds now: it then takes nothing more until it holds less. A restart of the sidecar forgets the change: to
    # keep it, give the limits to {Client#named_spread} too.
    def update(max_attempt_count: nil, max_consumer_lease_count: nil, max_group_count: nil, max_job_count: nil,
               max_byte_count: nil)
      limits = SpreadLimits.new(max_attempt_count: max_attempt_count,
                                max_consumer_lease_count: max_consumer_lease_count, max_group_count: max_group_count,
                                max_job_count: max_job_count, max_byte_count: max_byte_count)
      SpreadDescription.of(@calls.ask("UpdateSpread", { limits: limits.to_message("limits") }).description)
    end

    def describe
      SpreadDescription.of(@calls.ask("DescribeSpread").description)
    end

    # A {Producer}, which submits groups. It retries calls for up to `patience` seconds without success.
    def producer(patience: 60)
      Producer.new(@calls, patience)
    end

    # A {Consumer}, which pulls jobs. Each of its calls asks for up to `batch_size` jobs, and waits up to `wait` seconds
    # for the first. Its ID must be unique among consumers. With a block, yields the consumer, and closes it at the end.
    def consumer(consumer_id, batch_size: 16, wait: 20, patience: 60)
      made = Consumer.new(@calls, patience) do |settled|
        Named::PullSource.new(@calls, consumer_id, batch_size, wait, settled)
      end
      block_given? ? closing(made) { yield made } : made
    end

    # The same as {#consumer}, over a stream on which the sidecar sends up to `window` jobs ahead.
    def stream(consumer_id, window: 256, patience: 60)
      made = Consumer.new(@calls, patience) { |settled| Named::StreamSource.new(@calls, consumer_id, window, settled) }
      block_given? ? closing(made) { yield made } : made
    end

    # A {Pump}, which yields jobs so that the block puts them into another queue, and extends their leases. A job that
    # is not settled within `hold_for` seconds counts as lost. Its ID must be unique among consumers.
    def pump(consumer_id, hold_for: 3600)
      raise ArgumentError, "no block that hands jobs over" unless block_given?

      Pump.new(self, consumer_id, hold_for, ->(job) { yield job })
    end

    # Leases up to `max_pulled_job_count` jobs: {PulledJobs}. Waits up to `wait` seconds for the first job.
    def pull(consumer_id, max_pulled_job_count, wait: 0)
      @calls.pull(consumer_id, max_pulled_job_count, wait)
    end

    # Settles jobs and extends leases. A settlement is an Array of a job or its {LeaseToken}, an action (:ack, :nack,
    # :release, :extend_lease or :dead_letter) and, for :nack and :release, an optional delay in seconds. Returns the
    # {SettleResult}s, in the order of the settlements.
    def settle(settlements)
      @calls.settle(settlements)
    end

    # The {DeadLetter}s, oldest first, as an Enumerator that fetches pages on demand. All are of one epoch: once that
    # epoch has ended, the next page raises {InvalidArgument}.
    def dead_letters
      Enumerator.new do |letters|
        token = nil
        loop do
          page = @calls.ask("ListDeadLetters", { page_token: token })
          page.dead_letters.each { |message| letters << DeadLetter.of(message, page.epoch) }
          token = page.next_page_token
          break if token.empty?
        end
      end
    end

    # Redrives {DeadLetter}s that {#dead_letters} listed: each is leased again, with attempts from 1, as the only job of
    # a group of its own. Dead letters that do not exist, or belong to another epoch of the spread, are skipped. Returns
    # how many were redriven.
    def redrive_dead_letters(letters)
      by_epoch(letters) { |fields| @calls.ask("RedriveDeadLetters", fields).redriven_count }
    end

    # Deletes {DeadLetter}s that {#dead_letters} listed. Skips the same ones as {#redrive_dead_letters}. Returns how
    # many were deleted.
    def delete_dead_letters(letters)
      by_epoch(letters) { |fields| @calls.ask("DeleteDeadLetters", fields).deleted_count }
    end

    # Closes the spread: it takes no more groups. Waits for up to `wait` seconds until all its jobs are settled.
    def close(wait: 0)
      SpreadDescription.of(@calls.ask("CloseSpread", wait: wait).description)
    end

    # Discards the spread and everything that it holds. Returns its last description.
    def discard
      SpreadDescription.of(@calls.ask("CloseSpread", { mode: :CLOSE_MODE_DISCARD }).description)
    end

    private

    # Yields the fields of each call: an epoch, and as many numbers of its letters as a call takes. Returns the sum of
    # the results of the block. All letters are checked before the first call.
    def by_epoch(letters)
      numbers = Hash.new { |found, epoch| found[epoch] = [] }
      Fields.each_indexed(letters, "letters") do |letter, place|
        unless letter.is_a?(DeadLetter)
          raise Offbeat.refused(place, letter, "must be an Offbeat::DeadLetter, as dead_letters lists them")
        end

        numbers[letter.epoch] << letter.number
      end
      numbers.sum do |epoch, all|
        all.each_slice(Named::CALL).sum { |some| yield({ epoch: epoch, numbers: some }) }
      end
    end

    def closing(consumer)
      yield
    ensure
      consumer.close
    end
  end
end
