-- Opens a spread. Returns 1, or 0 if there is one already, or -1 if there are as many as allowed.
-- KEYS: state, journal, names, epochs. ARGV: name, layout, entry, most names, and the life and the
-- number of entries of an ended spread of this name that it replaces.
local state, journal, names, epochs = unpack(KEYS)
local name, layout, entry, most, life, next = unpack(ARGV)
if redis.call('EXISTS', state) == 1 then
  local known = redis.call('HMGET', state, 'life', 'first')
  if known[1] ~= life or known[2] + redis.call('LLEN', journal) ~= tonumber(next) then return 0 end
  local snapshot = redis.call('HGET', state, 'snapshot')
  if snapshot ~= '' then redis.call('UNLINK', snapshot) end
  redis.call('UNLINK', state, journal)
elseif redis.call('ZCARD', names) >= tonumber(most) then
  return -1
end
local epoch, millis = new_epoch(epochs), clock()
redis.call('HSET', state, 'layout', layout, 'life', epoch, 'epoch', epoch, 'run', run(), 'first', 0,
  'bytes', 0, 'snapshot', '', 'replaced', '', 'size', 0, 'time', string.format('%.0f', millis))
redis.call('ZADD', names, 0, name)
append(state, journal, millis, 'O' .. string.rep('0', 20 - #epoch) .. epoch .. entry)
return 1
