-- Claims the next snapshot of a spread for one process: 1, or 0 if another one has. KEYS: claim. ARGV:
-- seconds for which it is claimed at most.
return redis.call('SET', KEYS[1], 1, 'NX', 'EX', ARGV[1]) and 1 or 0
