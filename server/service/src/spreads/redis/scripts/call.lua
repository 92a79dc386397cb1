-- Adds a call to the journal of a spread, if there is one to add, and returns the entries that the
-- caller has not seen. KEYS: state, journal, epochs. ARGV: layout, channel, name, index of the
-- first entry that the caller has not seen, most bytes of entries, least number of entries, entry
-- (or nothing).
-- Returns {0}: there is no such spread; {2, layout}: another release has changed it; or {1, life,
-- epoch, run, first, next, millis, bytes, snapshot, its size, entries}.
local state, journal, epochs = unpack(KEYS)
local layout, channel, name, from, most, least, entry = unpack(ARGV)
most, least = tonumber(most), tonumber(least)
local known = redis.call('HMGET', state, 'layout', 'life', 'run', 'first', 'snapshot', 'time',
  'epoch', 'size')
if not known[1] then return {0} end
if known[1] ~= layout then return {2, known[1]} end
local epoch, this_run = known[7], run()
-- Time never goes back in a life of a spread.
local millis = math.max(clock(), tonumber(known[6]))
if known[3] ~= this_run then
  -- The end of the journal may be lost, and leases with it. The clock may be another one, too.
  epoch, millis = new_epoch(epochs), clock()
  restate(state, journal)
  redis.call('HSET', state, 'run', this_run, 'epoch', epoch)
  append(state, journal, millis, 'R' .. string.rep('0', 20 - #epoch) .. epoch)
end
if entry ~= '' then append(state, journal, millis, 'C' .. entry) end
if string.format('%.0f', millis) ~= known[6] then
  redis.call('HSET', state, 'time', string.format('%.0f', millis))
end
local first, from = tonumber(known[4]), tonumber(from)
local next = first + redis.call('LLEN', journal)
if entry ~= '' or known[3] ~= this_run then
  redis.call('PUBLISH', channel, string.format('%.0f', next) .. ' ' .. name)
end
local entries, bytes, place, count = {}, 0, math.max(from - first, 0), 1
local is_full = from < first
while not is_full and first + place < next do
  local some = redis.call('LRANGE', journal, place, place + count - 1)
  for _, one in ipairs(some) do
    is_full = bytes + #one > most and #entries >= least
    if is_full then break end
    entries[#entries + 1] = one
    bytes = bytes + #one
  end
  place = place + #some
  -- No more at once than fit if they are as large as those before: entries may be large.
  local fitting = math.floor((most - bytes) * #entries / math.max(bytes, 1))
  count = math.max(1, math.min(16, 2 * count, fitting))
end
return {1, known[2], epoch, this_run, first, next, millis,
  tonumber(redis.call('HGET', state, 'bytes')), known[5], tonumber(known[8]), entries}
