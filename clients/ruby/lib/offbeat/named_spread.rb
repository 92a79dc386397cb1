# frozen_string_literal: true

require_relative "v1/named_spread_pb"
require_relative "named_spread/answers"
require_relative "named_spread/patience"
require_relative "named_spread/calls"
require_relative "named_spread/leased_job"
require_relative "named_spread/pull_source"
require_relative "named_spread/stream_source"
require_relative "named_spread/consumer"
require_relative "named_spread/group"
require_relative "named_spread/producer"

module Offbeat
  # A spread that producers and consumers share by its name. May be shared by threads; its
  # producers and consumers may not.
  #
  # Producers open it. Other calls do where it is not known: before any producer came, and after
  # a restart of the sidecar.
  class NamedSpread
    def initialize(calls)
      @calls = calls
    end

    def name
      @calls.name
    end

    # Opens the spread, or finds it open with the same parameters.
    def open
      SpreadDescription.of(@calls.open)
    end

    def describe
      SpreadDescription.of(@calls.ask("DescribeSpread").description)
    end

    # Who submits groups, and tries again for up to `patience` seconds without success.
    def producer(patience: 60)
      Producer.new(@calls, patience)
    end

    # Who draws jobs, by calls of up to `batch_size` jobs that wait for up to `wait` seconds.
    # The name is that of no other consumer. With a block, yields it, and closes it at the end.
    def consumer(name, batch_size: 16, wait: 20, patience: 60)
      made = Consumer.new(@calls, patience) do |settled|
        Named::PullSource.new(@calls, name, batch_size, wait, settled)
      end
      block_given? ? closing(made) { yield made } : made
    end

    # The same over a stream, which sends up to `window` jobs ahead.
    def stream(name, window: 256, patience: 60)
      made = Consumer.new(@calls, patience) { |settled| Named::StreamSource.new(@calls, name, window, settled) }
      block_given? ? closing(made) { yield made } : made
    end

    # Up to so many jobs, and whether the spread has ended. Waits for the first for up to
    # `wait` seconds.
    def pull(consumer, max_jobs, wait: 0)
      jobs, ended = @calls.pull(consumer, max_jobs, wait)
      PulledJobs.new(jobs: jobs, ended: ended)
    end

    # Says how jobs went: pairs of a job and :ack, :nack, :release, :extend or :terminate.
    # What became of each: :settled, :returned, :extended, :dead_lettered or :stale.
    def settle(verdicts)
      @calls.settle(verdicts)
    end

    # The jobs that were given up, oldest first, as an Enumerator that asks for a page when it
    # is needed.
    def dead_letters
      Enumerator.new do |letters|
        after = nil
        loop do
          page = @calls.ask("ListDeadLetters", { after_number: after })
          page.dead_letters.each { |message| letters << DeadLetter.of(message) }
          break unless page.has_more

          after = page.dead_letters.to_a.last.number
        end
      end
    end

    # Deletes jobs that were given up, and says how many of the numbers there were.
    def delete_dead_letters(numbers)
      numbers.each_slice(Named::CALL).sum do |slice|
        @calls.ask("DeleteDeadLetters", { numbers: slice }).deleted_count
      end
    end

    # Takes no more groups, and waits for up to `wait` seconds until those that it has are
    # settled.
    def close(wait: 0)
      SpreadDescription.of(@calls.ask("CloseSpread", wait: wait).description)
    end

    # Drops the spread and all that it holds; what it was.
    def discard
      SpreadDescription.of(@calls.ask("CloseSpread", { mode: :CLOSE_MODE_DISCARD }).description)
    end

    private

    def closing(consumer)
      yield
    ensure
      consumer.close
    end
  end
end
