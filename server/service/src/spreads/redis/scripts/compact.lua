-- Replaces the entries before a snapshot by the snapshot. Returns 1, or 0 if the snapshot is not of
-- this life, or another one has replaced them. KEYS: state, journal, the snapshot. ARGV: life,
-- epoch, index of the first entry that is not in the snapshot, its number of chunks and of bytes,
-- bytes of the entries in it, seconds for which readers may need the snapshot that it replaces.
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
local left = math.max(0, tonumber(redis.call('HGET', state, 'bytes')) - tonumber(bytes))
local replaced = redis.call('HGET', state, 'replaced')
redis.call('HSET', state, 'first', index, 'snapshot', snapshot, 'size', size, 'bytes', left,
  'replaced', known[4])
-- Readers of the last snapshot may continue; readers of an older one begin again.
if known[4] ~= '' then redis.call('EXPIRE', known[4], grace) end
if replaced and replaced ~= '' then redis.call('UNLINK', replaced) end
-- Last, since `restate` cannot bring entries back.
redis.call('LTRIM', journal, dropped, -1)
return 1
