-- Claims the next snapshot of a spread for one process. Returns 1, or 0 if another process has
-- claimed it. KEYS: claim. ARGV: seconds after which the claim ends.
return redis.call('SET', KEYS[1], 1, 'NX', 'EX', ARGV[1]) and 1 or 0
