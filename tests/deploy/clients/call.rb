# call.rb ADDRESS [UID GID]: makes a call as that user, and prints the slot or the error's name.
require "offbeat"

USER = "0190d7a2-1111-7abc-8def-0123456789ab"

def call(address)
  client = Offbeat::Client.new(address, timeout: 5)
  every_8_hours = Offbeat::Schedule.new(period: 8 * 3600)
  client.assign_slot(every_8_hours, USER, from_time: Time.utc(2026, 1, 1)).slot_index
rescue Offbeat::Error => e
  e.class.name.split("::").last
end

address, uid, gid = ARGV
if uid
  # A first call loads lazy modules while this user may still read the files.
  call("unix:/nowhere")
  Process.groups = [gid.to_i]
  Process::GID.change_privilege(gid.to_i)
  Process::UID.change_privilege(uid.to_i)
end
puts call(address)
