-- Discards a spread. Returns 1, or 0 if there is none. KEYS: state, journal, names. ARGV: channel,
-- name.
local state, journal, names = unpack(KEYS)
local snapshot = redis.call('HGET', state, 'snapshot')
if snapshot and snapshot ~= '' then redis.call('UNLINK', snapshot) end
redis.call('ZREM', names, ARGV[2])
redis.call('PUBLISH', ARGV[1], '- ' .. ARGV[2])
return redis.call('UNLINK', state, journal) > 0 and 1 or 0
