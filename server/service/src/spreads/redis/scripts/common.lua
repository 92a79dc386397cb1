-- What all scripts begin with.

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

-- One life of this Redis: another one after a restart, and each time that it takes over.
local function run()
  local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  return run_id .. '/' .. string.match(redis.call('INFO', 'replication'), 'master_replid:(%x+)')
end

-- Adds an entry to the journal of a spread.
local function append(state, journal, millis, entry)
  redis.call('RPUSH', journal, string.format('%015.0f', millis) .. entry)
  redis.call('HINCRBY', state, 'bytes', #entry)
end
