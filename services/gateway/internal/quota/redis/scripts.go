package redis

import goredis "github.com/redis/go-redis/v9"

// What a script returns with a number: counted, or why not.
const (
	counted = iota
	overRequests
	overConcurrency
	overResults
)

// clock sets now to the time in microseconds, which a double holds exactly. It is the first argument of a test, else Redis'.
const clock = `
local now = tonumber(ARGV[1])
if not now then
	local time = redis.call('TIME')
	now = time[1] * 1000000 + time[2]
end
`

// enterScript counts a request. The bucket holds millionths of a request, as in package memory. A request in flight is a
// member of a sorted set, until the time of its score.
//
// KEYS: the bucket, the requests in flight. ARGV: time, requests a second, concurrency, token, lease in microseconds.
//
//nolint:dupword // blocks of Lua end so
var enterScript = goredis.NewScript(clock + `
local rate, concurrency, lease = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[5])
local level = rate * 1000000
local function keep()
	redis.call('HSET', KEYS[1], 'level', string.format('%.0f', level), 'at', string.format('%.0f', now))
	redis.call('EXPIRE', KEYS[1], 60)
end
if rate > 0 then
	local kept = redis.call('HMGET', KEYS[1], 'level', 'at')
	if kept[1] then
		local elapsed = math.min(math.max(now - tonumber(kept[2]), 0), 1000000)
		level = math.min(level, tonumber(kept[1]) + elapsed * rate)
	end
	if level < 1000000 then
		keep() -- of a clock that was set back
		return {1, math.ceil((1000000 - level) / rate)}
	end
end
if concurrency > 0 then
	redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now))
	if redis.call('ZCARD', KEYS[2]) >= concurrency then
		return {2, 0}
	end
	redis.call('ZADD', KEYS[2], string.format('%.0f', now + lease), ARGV[4])
	redis.call('PEXPIRE', KEYS[2], string.format('%.0f', 2 * lease / 1000))
end
if rate > 0 then
	level = level - 1000000
	keep()
end
return {0, 0}`)

// renewScript makes leases last longer. A lease that ended stays ended: its request may have left since.
//
// KEYS: the requests in flight. ARGV: time, lease in microseconds, tokens.
var renewScript = goredis.NewScript(clock + `
local lease = tonumber(ARGV[2])
for i = 3, #ARGV do
	redis.call('ZADD', KEYS[1], 'XX', string.format('%.0f', now + lease), ARGV[i])
end
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', 2 * lease / 1000))
return {0, 0}`)

// takeScript counts a result of a day, and returns the day or the time until the next one.
//
// KEYS: the results of a day. ARGV: time, results a day.
var takeScript = goredis.NewScript(clock + `
local day = math.floor(now / 86400000000)
local kept, results = redis.call('HMGET', KEYS[1], 'day', 'results'), 0
if tonumber(kept[1]) == day then
	results = tonumber(kept[2])
end
if results >= tonumber(ARGV[2]) then
	return {3, (day + 1) * 86400000000 - now}
end
redis.call('HSET', KEYS[1], 'day', day, 'results', results + 1)
redis.call('EXPIRE', KEYS[1], 172800)
return {0, day}`)

// giveScript takes back the count of a result of a day, unless another day has begun.
//
// KEYS: the results of a day. ARGV: the day.
var giveScript = goredis.NewScript(`
if redis.call('HGET', KEYS[1], 'day') == ARGV[1] then
	redis.call('HINCRBY', KEYS[1], 'results', -1)
end
return {0, 0}`)
