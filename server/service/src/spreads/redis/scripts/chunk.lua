-- Adds a piece to a snapshot that is being written. KEYS: the snapshot. ARGV: the piece, seconds
-- after which an unfinished snapshot is dropped.
redis.call('RPUSH', KEYS[1], ARGV[1])
redis.call('EXPIRE', KEYS[1], ARGV[2])
return 1
