# frozen_string_literal: true

# Handles jobs until the spread is closed.
#
#   ruby consumer.rb SPREAD CONSUMER_ID

require "offbeat"

$stdout.sync = true
spread_name, consumer_id = ARGV
spread = Offbeat::Client.new.named_spread(spread_name, feeder_count: 8, lease_duration: 5)

spread.consumer(consumer_id) do |jobs|
  jobs.each do |job|
    # Here the job is done. It may come twice: what it does must be harmless the second time.
    job.ack
    puts "#{consumer_id} #{job.group_id} #{job.job_index}"
  end
end
