require "offbeat"

client = Offbeat::Client.new
every_8_hours = Offbeat::Schedule.new(period: 8 * 3600)
new_year = Time.utc(2026, 1, 1)

user = "0190d7a2-1111-7abc-8def-0123456789ab"
assignment = client.assign_slot(every_8_hours, user, from_time: new_year)
puts "#{assignment.slot_index} #{assignment.next_run.start_time}"

client.assign_slots(every_8_hours, 1..100_000, from_time: new_year).first(3).each do |row|
  puts "#{row.id} #{row.slot_index} #{row.next_run_time}"
end
