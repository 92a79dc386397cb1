"""The Lua scripts of the store in Redis, one for each method.

Times are whole microseconds since 1970, which a double holds exactly until 2255. The keys, after
the prefix of the store:

- ``declarations``: the names, a set; ``progress:NAME``: a hash, where an empty text is ``None``;
- ``run:ID``: a run in JSON, with all values as texts: Lua's JSON rounds large numbers;
- ``planned:NAME``, ``pending:NAME`` (published or claimed), ``ended:NAME``: the IDs of runs, by
  their ``action_time``;
- ``starts:NAME``: the IDs of runs, by their ``start_time``;
- ``rows:NAME``: the ID of each run's row, a zero byte, and its own: a sorted set, in that order.
"""

from __future__ import annotations

from .decisions import MAX_DOUBLINGS, NEVER_RUN

_NEVER_RUN = ", ".join(f"{state.value} = true" for state in NEVER_RUN)

#: Starts each script. The first two arguments are the prefix, and the time of a test's clock.
_COMMON = (
    f"local NEVER_RUN = {{{_NEVER_RUN}}}"
    + """
local prefix, given_time = ARGV[1], ARGV[2]

-- Lua writes large numbers with an exponent, and loses digits.
local function text(number) return string.format('%.0f', number) end

local function time_now()
  if given_time ~= '' then return tonumber(given_time) end
  local time = redis.call('TIME')
  return tonumber(time[1]) * 1000000 + tonumber(time[2])
end

local function run_key(run_id) return prefix .. 'run:' .. run_id end

local function read(run_id)
  local found = redis.call('GET', run_key(run_id))
  if not found then return nil end
  local run = cjson.decode(found)
  for _, name in ipairs({'scheduled_time', 'start_time', 'publication', 'action_time'}) do
    run[name] = tonumber(run[name])
  end
  return run
end

local function write(run)
  for _, name in ipairs({'scheduled_time', 'start_time', 'publication', 'action_time'}) do
    run[name] = text(run[name])
  end
  local written = cjson.encode(run)
  redis.call('SET', run_key(run.run_id), written)
  return written
end

local function read_all(run_ids)
  local found = {}
  for at, run_id in ipairs(run_ids) do found[at] = redis.call('GET', run_key(run_id)) end
  return found
end

local function queue(state, declaration)
  if state == 'planned' then return prefix .. 'planned:' .. declaration end
  if state == 'published' or state == 'claimed' then return prefix .. 'pending:' .. declaration end
  return prefix .. 'ended:' .. declaration
end

-- Gives a run another state, and returns how it is written.
local function move(run, state, action_time)
  local before, after = queue(run.state, run.declaration), queue(state, run.declaration)
  if before ~= after then redis.call('ZREM', before, run.run_id) end
  redis.call('ZADD', after, text(action_time), run.run_id)
  run.state, run.action_time = state, action_time
  return write(run)
end

-- Whether all runs in the arguments from `first` on are new: asked of many at once, as most are.
local function none_exists(first)
  local keys = {}
  for at = first, #ARGV, 7 do
    keys[#keys + 1] = run_key(ARGV[at])
    if #keys == 2000 or at + 7 > #ARGV then
      if redis.call('EXISTS', unpack(keys)) > 0 then return false end
      keys = {}
    end
  end
  return true
end

-- Inserts the runs in the arguments from `first` on, but those that are there. Sorted sets take
-- many members at once.
local function insert(first)
  local added, sets, seen = 0, {}, {}
  local function collect(key, score, member)
    local members = sets[key] or {}
    sets[key] = members
    members[#members + 1] = score
    members[#members + 1] = member
  end
  local all_new = none_exists(first)
  for at = first, #ARGV, 7 do
    local run_id, declaration, row_id, state, start_time, action_time, run =
      unpack(ARGV, at, at + 6)
    if not seen[run_id] and (all_new or redis.call('EXISTS', run_key(run_id)) == 0) then
      seen[run_id] = true
      redis.call('SET', run_key(run_id), run)
      collect(queue(state, declaration), action_time, run_id)
      collect(prefix .. 'starts:' .. declaration, start_time, run_id)
      collect(prefix .. 'rows:' .. declaration, 0, row_id .. '\\0' .. run_id)
      added = added + 1
    end
  end
  for key, members in pairs(sets) do
    for from = 1, #members, 2000 do
      redis.call('ZADD', key, unpack(members, from, math.min(from + 1999, #members)))
    end
  end
  return added
end

-- Whether the fields of a hash have values: `count` pairs in the arguments from `first` on.
local function has(key, first, count)
  for at = first, first + 2 * count - 1, 2 do
    if (redis.call('HGET', key, ARGV[at]) or '') ~= ARGV[at + 1] then return false end
  end
  return true
end
"""
)

NOW = _COMMON + "return text(time_now())"

BEGIN = (
    _COMMON
    + """
local declaration, schedule = ARGV[3], ARGV[4]
local key = prefix .. 'progress:' .. declaration
if redis.call('EXISTS', key) == 0 then
  redis.call('SADD', prefix .. 'declarations', declaration)
  redis.call('HSET', key, 'declaration', declaration, 'schedule', schedule,
    'watermark_time', text(time_now()))
end
return redis.call('HGETALL', key)
"""
)

PROGRESS = (
    _COMMON
    + """
local found = {}
for _, declaration in ipairs(redis.call('SMEMBERS', prefix .. 'declarations')) do
  found[#found + 1] = redis.call('HGETALL', prefix .. 'progress:' .. declaration)
end
return found
"""
)

#: Arguments: the declaration, the number of fields to compare, these fields with their expected
#: values, and the fields to set with their new values.
CHANGE = (
    _COMMON
    + """
local key, count = prefix .. 'progress:' .. ARGV[3], tonumber(ARGV[4])
if redis.call('EXISTS', key) == 0 or not has(key, 5, count) then return 0 end
redis.call('HSET', key, unpack(ARGV, 5 + 2 * count))
return 1
"""
)

#: As CHANGE, but with the numbers of fields to set and of counters to add to; the runs come last.
PLAN = (
    _COMMON
    + """
local key = prefix .. 'progress:' .. ARGV[3]
local count, changed, added = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
if redis.call('EXISTS', key) == 0 or not has(key, 7, count) then return 0 end
local at = 7 + 2 * count
redis.call('HSET', key, unpack(ARGV, at, at + 2 * changed - 1))
at = at + 2 * changed
for pair = at, at + 2 * added - 1, 2 do redis.call('HINCRBY', key, ARGV[pair], ARGV[pair + 1]) end
insert(at + 2 * added)
return 1
"""
)

ADD = _COMMON + "return insert(3)"

#: Arguments: ``start_before``, the limit, and pairs of a declaration and its ``republish_after``.
PUBLISH = (
    _COMMON
    + f"""
local start_before, limit, now = ARGV[3], tonumber(ARGV[4]), time_now()
local due, after = {{}}, {{}}
local function collect_due(key, most)
  local found = redis.call('ZRANGEBYSCORE', key, '-inf', most, 'WITHSCORES', 'LIMIT', 0, limit)
  for at = 1, #found, 2 do due[#due + 1] = {{found[at], tonumber(found[at + 1])}} end
end
for at = 5, #ARGV, 2 do
  after[ARGV[at]] = tonumber(ARGV[at + 1])
  collect_due(prefix .. 'planned:' .. ARGV[at], '(' .. start_before)
  collect_due(prefix .. 'pending:' .. ARGV[at], text(now))
end
table.sort(due, function(one, other)
  if one[2] == other[2] then return one[1] < other[1] end
  return one[2] < other[2]
end)
-- Those of a declaration and publication come again together: see decisions.publications.
local runs, latest = {{}}, {{}}
for at = 1, math.min(limit, #due) do
  local run = read(due[at][1])
  runs[at] = run
  local group = run.publication .. ' ' .. run.declaration
  latest[group] = math.max(latest[group] or now, run.start_time)
end
local published = {{}}
for at, run in ipairs(runs) do
  local group = run.publication .. ' ' .. run.declaration
  local wait = after[run.declaration] * 2 ^ math.min(run.publication, {MAX_DOUBLINGS})
  run.publication = run.publication + 1
  published[at] = move(run, 'published', latest[group] + wait)
end
return published
"""
)

#: Arguments: pairs of a run and its publication.
UNPUBLISH = (
    _COMMON
    + """
for at = 3, #ARGV, 2 do
  local run = read(ARGV[at])
  if run and run.state == 'published' and run.publication == tonumber(ARGV[at + 1]) then
    run.publication = run.publication - 1
    move(run, 'planned', run.start_time)
  end
end
return 1
"""
)

OVERDUE = (
    _COMMON
    + """
local key, limit, offset, found = prefix .. 'planned:' .. ARGV[3], tonumber(ARGV[5]), 0, {}
repeat
  local run_ids =
    redis.call('ZRANGEBYSCORE', key, '-inf', '(' .. ARGV[4], 'LIMIT', offset, limit)
  for _, run_id in ipairs(run_ids) do
    if #found < limit and read(run_id).publication == 0 then found[#found + 1] = run_id end
  end
  offset = offset + limit
until #run_ids < limit or #found == limit
return read_all(found)
"""
)

REPLAN = (
    _COMMON
    + """
local run = read(ARGV[3])
if not run or run.state ~= ARGV[4] or run.publication ~= tonumber(ARGV[5])
  or run.start_time ~= tonumber(ARGV[6]) then return 0 end
local state, start_time = ARGV[7], tonumber(ARGV[8])
run.start_time = start_time
move(run, state, ARGV[9] == 'ended' and time_now() or start_time)
redis.call('ZADD', prefix .. 'starts:' .. run.declaration, text(start_time), ARGV[3])
return 1
"""
)

#: Returns whether the claim was granted, the time, and the run after it.
CLAIM = (
    _COMMON
    + """
local now, run, publication = time_now(), read(ARGV[3]), tonumber(ARGV[4])
if run and run.start_time <= now and (
  (run.state == 'published' and run.publication >= publication) or
  (run.state == 'claimed' and run.publication == publication and run.action_time <= now)) then
  run.publication = publication
  return {1, text(now), move(run, 'claimed', now + tonumber(ARGV[5]))}
end
return {0, text(now), redis.call('GET', run_key(ARGV[3]))}
"""
)

#: Arguments: the run, its publication, its next state, and its action time; empty for now.
END_CLAIM = (
    _COMMON
    + """
local run = read(ARGV[3])
if not run or run.state ~= 'claimed' or run.publication ~= tonumber(ARGV[4]) then return 0 end
move(run, ARGV[5], ARGV[6] == '' and time_now() or tonumber(ARGV[6]))
return 1
"""
)

LAST_STARTS = (
    _COMMON
    + """
local starts, before = {}, tonumber(ARGV[4])
for at = 5, #ARGV do
  local last, row = -1, ARGV[at] .. '\\0'
  local members =
    redis.call('ZRANGEBYLEX', prefix .. 'rows:' .. ARGV[3], '[' .. row, '(' .. ARGV[at] .. '\\1')
  for _, member in ipairs(members) do
    local run = read(string.sub(member, #row + 1))
    if run and run.scheduled_time < before and not NEVER_RUN[run.state] then
      last = math.max(last, run.start_time)
    end
  end
  starts[at - 4] = last < 0 and '' or text(last)
end
return starts
"""
)

RUNS = (
    _COMMON
    + """
return read_all(redis.call('ZRANGEBYSCORE', prefix .. 'starts:' .. ARGV[3], ARGV[4],
  '(' .. ARGV[5], 'LIMIT', ARGV[6], ARGV[7]))
"""
)

PRUNE = (
    _COMMON
    + """
local ended, starts = prefix .. 'ended:' .. ARGV[3], prefix .. 'starts:' .. ARGV[3]
local run_ids = redis.call('ZRANGEBYSCORE', ended, '-inf', '(' .. ARGV[4], 'LIMIT', 0, ARGV[5])
for _, run_id in ipairs(run_ids) do
  local member = read(run_id).row_id .. '\\0' .. run_id
  redis.call('ZREM', prefix .. 'rows:' .. ARGV[3], member)
  redis.call('ZREM', starts, run_id)
  redis.call('ZREM', ended, run_id)
  redis.call('DEL', run_key(run_id))
end
return #run_ids
"""
)
