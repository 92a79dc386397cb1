-- Lets a snapshot take the place of the entries before it: 1, or 0 if it is not of this life, or
-- another one has. KEYS: state, journal, the snapshot. ARGV: life, epoch, index of the first entry
-- that is not in the snapshot, how many chunks it has and how many bytes, bytes of the entries in it,
-- seconds for which readers may need what it replaces.
local state, journal, snapshot = unpack(KEYS)
local life, epoch, index, chunks, size, bytes, grace = unpack(ARGV)
local known = redis.call('HMGET', state, 'life', 'epoch', 'first', 'snapshot')
local dropped = tonumber(index) - tonumber(known[3] or '0')
if known[1] ~= life or known[2] ~= epoch or dropped <= 0 or dropped > redis.call('LLEN', journal)
  or redis.call('LLEN', snapshot) ~= tonumber(chunks) then
  redis.call('DEL', snapshot)
  return 0
end
redis.call('PERSIST', snapshot)
-- Who is reading the last one may go on; who reads one before it begins again.
local replaced = redis.call('HGET', state, 'replaced')
if replaced then redis.call('UNLINK', replaced) end
if known[4] ~= '' then
  redis.call('EXPIRE', known[4], grace)
  redis.call('HSET', state, 'replaced', known[4])
end
redis.call('LTRIM', journal, dropped, -1)
local left = math.max(0, tonumber(redis.call('HGET', state, 'bytes')) - tonumber(bytes))
redis.call('HSET', state, 'first', index, 'snapshot', snapshot, 'size', size, 'bytes', left)
return 1
