# frozen_string_literal: true

# Submits groups of jobs, and waits until all are settled.
#
#   ruby producer.rb SPREAD PREFIX GROUP_COUNT JOBS_PER_GROUP

require "json"
require "offbeat"

name, prefix, group_count, jobs_per_group = ARGV
spread = Offbeat::Client.new.named_spread(name, feeder_count: 8, lease_duration: 5)
producer = spread.producer

Integer(group_count).times do |number|
  group = "#{prefix}-#{number}"
  producer.submit(group, Array.new(Integer(jobs_per_group)) { |job| JSON.generate(group: group, job: job) })
end
settled = producer.wait
puts "#{prefix}: #{settled.size} groups settled"
