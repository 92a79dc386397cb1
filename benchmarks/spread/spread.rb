# frozen_string_literal: true

# Measures the jobs per second of a spreader written by hand: an array of open groups.

JOBS = 1_000_000
GROUP = 20

def spread(groups, feeder_count)
  feeders = []
  feeder_count.times { (group = groups.shift) && feeders << [group, 0] }
  turn = 0
  until feeders.empty?
    turn = 0 if turn >= feeders.size
    feeder = feeders[turn]
    group, index = feeder
    if index < group.size
      yield group[index]
      feeder[1] = index + 1
      turn += 1
    elsif (group = groups.shift)
      feeder[0] = group
      feeder[1] = 0
    else
      feeders.delete_at(turn)
    end
  end
end

ARGV.map(&:to_i).each do |feeder_count|
  best = 3.times.map do
    groups = (0...JOBS).step(GROUP).map { |start| (start...start + GROUP).to_a }
    begun = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    sum = 0
    spread(groups, feeder_count) { |job| sum += job }
    raise unless sum == JOBS * (JOBS - 1) / 2

    JOBS / (Process.clock_gettime(Process::CLOCK_MONOTONIC) - begun)
  end.max
  puts "Ruby, feeders by hand, F = #{feeder_count}\t#{best.round}"
end
