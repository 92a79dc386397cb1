# frozen_string_literal: true

# Takes jobs of a named spread until it is closed, and acks each job when it is done.
#
#   ruby consumer.rb SPREAD CONSUMER_ID

require "offbeat"

$stdout.sync = true
spread_name, consumer_id = ARGV
spread = Offbeat::Client.new.named_spread(spread_name, feeder_count: 8, lease_duration: 5)

spread.consumer(consumer_id) do |jobs|
  jobs.each do |job|
    # Do the work here. A job can be delivered twice, so it must be idempotent.
    job.ack
    puts "#{consumer_id} #{job.group_id} #{job.job_index}"
  end
end
