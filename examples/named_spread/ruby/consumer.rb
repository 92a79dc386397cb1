# frozen_string_literal: true

# Takes jobs until the spread is closed.
#
#   ruby consumer.rb SPREAD NAME

require "offbeat"

$stdout.sync = true
spread_name, name = ARGV
spread = Offbeat::Client.new.named_spread(spread_name, feeder_count: 8, lease: 5)

spread.consumer(name) do |jobs|
  jobs.each do |job|
    # Here the job is done. It may come twice: what it does must be harmless the second time.
    job.ack
    puts "#{name} #{job.group_id} #{job.index}"
  end
end
