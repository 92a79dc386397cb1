-- The head of all scripts.

-- Milliseconds by the clock of Redis.
local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- A number for a life of a spread: microseconds, but larger than any that was given before. Below
-- 2^53, so a double holds it.
local function new_epoch(epochs)
  local time = redis.call('TIME')
  local last = tonumber(redis.call('GET', epochs) or '0')
  local epoch = string.format('%.0f', math.max(time[1] * 1000000 + time[2], last + 1))
  redis.call('SET', epochs, epoch)
  return epoch
end

-- Identifies the run of this Redis: another one after a restart, and each time that it takes over.
local function run()
  local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  return run_id .. '/' .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end

-- Adds an entry to the journal of a spread.
local function append(state, journal, millis, entry)
  redis.call('RPUSH', journal, string.format('%015.0f', millis) .. entry)
  redis.call('HINCRBY', state, 'bytes', #entry)
end

-- Restates the journal's length and the fields of a spread, so that no later restart changes them. A
-- power cut may tear the last transaction in the append-only file. Redis ignores it at the next start,
-- but leaves its first commands in the file, without an end. The next transaction ends it, so at the
-- start after that one these commands are executed.
-- Each key is changed and changed back, since Redis does not record a command that changes nothing.
local function restate(state, journal)
  local length = redis.call('RPUSH', journal, '') - 1
  if length > 0 then
    redis.call('LTRIM', journal, 0, length - 1)
  else
    redis.call('DEL', journal)
  end
  local fields = {'layout', 'life', 'first', 'bytes', 'snapshot', 'size', 'time', 'replaced'}
  local values = redis.call('HMGET', state, unpack(fields))
  for place, field in ipairs(fields) do
    redis.call('HSET', state, field, values[place] or '')
  end
  local snapshot = redis.call('HGET', state, 'snapshot')
  if snapshot ~= '' then
    redis.call('EXPIRE', snapshot, 60)
    redis.call('PERSIST', snapshot)
  end
end
