# frozen_string_literal: true

# Measures the jobs per second that reach Ruby: as columns of one stream, and as the client's turns.

require "offbeat"

FEEDERS = 64
WINDOW = 65_536
V1 = Offbeat::V1

def columns(address, group, jobs)
  conversation = Offbeat::Transport.new(address).converse("/offbeat.v1.SpreadService/Spread", nil)
  tell = ->(**message) { conversation.write(V1::SpreadRequest.encode(V1::SpreadRequest.new(**message))) }
  order = V1::SpreadOrder.new(feeder_count: FEEDERS)
  tell.call(spec: V1::SpreadSpec.new(order: order, job_window: WINDOW, group_window: WINDOW / 16))
  made = total = 0
  count = jobs / group
  while (bytes = conversation.read)
    response = V1::SpreadResponse.decode(bytes)
    case response.message
    when :turns
      indexes = response.turns.group_indexes.to_a
      total += indexes.size
      indexes.sum
    when :demand
      more = [response.demand.group_count, count - made].min
      made += more
      tell.call(input: V1::SpreadInput.new(whole_group_sizes: [group] * more, no_more_groups: made == count))
    end
  end
  raise unless total == jobs
ensure
  conversation&.close
end

def turns(address, group, jobs)
  groups = (0...jobs).step(group).lazy.map { |start| start...start + group }
  spread = Offbeat::Client.new(address).spread(groups, feeder_count: FEEDERS, job_window: WINDOW,
                                                       group_window: WINDOW / 16)
  raise unless spread.count == jobs
end

[[:columns, 20_000_000], [:turns, 1_000_000]].each do |what, jobs|
  [20, 1_000].each do |group|
    best = 2.times.map do
      begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      send(what, ARGV[0], group, jobs)
      jobs / (Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun)
    end.max
    puts "Ruby, #{what} of one stream, groups of #{group}\t#{best.round}"
  end
end
