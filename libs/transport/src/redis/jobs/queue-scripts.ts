import type { Script } from '../scripts/script';

/**
 * Empties a BullMQ queue for good. KEYS: wait, active, prioritized, then every other key of the
 * queue. ARGV: prefix of its job keys. Answers the data of all jobs.
 */
export const ABANDON: Script = {
  name: 'abandon',
  body: `
local ids = redis.call('LRANGE', KEYS[1], 0, -1)
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do ids[#ids + 1] = id end
for _, id in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do ids[#ids + 1] = id end
local jobs = {}
for _, id in ipairs(ids) do
  local data = redis.call('HGET', ARGV[1] .. id, 'data')
  if data then jobs[#jobs + 1] = data end
  redis.call('DEL', ARGV[1] .. id, ARGV[1] .. id .. ':lock')
end
for _, key in ipairs(KEYS) do redis.call('DEL', key) end
return jobs
`,
};

/**
 * KEYS: wait, active, prioritized, then every other key of the queue. ARGV: prefix of its job keys,
 * TTL. Locks have times of their own.
 */
export const EXTEND_QUEUE: Script = {
  name: 'extendQueue',
  body: `
local function extend(ids)
  for _, id in ipairs(ids) do redis.call('PEXPIRE', ARGV[1] .. id, ARGV[2]) end
end
extend(redis.call('LRANGE', KEYS[1], 0, -1))
extend(redis.call('LRANGE', KEYS[2], 0, -1))
extend(redis.call('ZRANGE', KEYS[3], 0, -1))
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[2]) end
return 0
`,
};

/** Sets the time to live of KEYS. ARGV: TTL; 0 for none. */
export const SET_TTL: Script = {
  name: 'keep',
  body: `
if ARGV[1] == '0' then return end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, ARGV[1]) end
`,
};

/**
 * Answers the number of waiting jobs. When none waits it also removes BullMQ's marker, which the
 * take of the last job has set and which would wake other workers for nothing. KEYS: wait,
 * prioritized, delayed, marker.
 */
export const LEFT: Script = {
  name: 'left',
  body: `
local left = redis.call('LLEN', KEYS[1]) + redis.call('ZCARD', KEYS[2])
if left == 0 and redis.call('ZCARD', KEYS[3]) == 0 then redis.call('ZREM', KEYS[4], '0') end
return left
`,
};

/** KEYS: active, wait, prioritized. Answers how many jobs are taken, and how many wait. */
export const LOOK: Script = {
  name: 'look',
  body: `
return {redis.call('LLEN', KEYS[1]), redis.call('LLEN', KEYS[2]) + redis.call('ZCARD', KEYS[3])}
`,
};

/**
 * Takes the placed jobs that no worker holds out of a BullMQ queue. KEYS: wait, active,
 * prioritized, stalled. ARGV: prefix of its job keys. Answers their data.
 */
export const RECLAIM: Script = {
  name: 'reclaim',
  body: `
local jobs = {}
local function take(id, command, list, ...)
  local data = redis.call('HGET', ARGV[1] .. id, 'data')
  if not data or not cjson.decode(data).placed then return end
  redis.call(command, list, ...)
  redis.call('SREM', KEYS[4], id)
  redis.call('DEL', ARGV[1] .. id)
  jobs[#jobs + 1] = data
end
for _, id in ipairs(redis.call('LRANGE', KEYS[1], 0, -1)) do
  take(id, 'LREM', KEYS[1], 1, id)
end
for _, id in ipairs(redis.call('LRANGE', KEYS[2], 0, -1)) do
  if redis.call('EXISTS', ARGV[1] .. id .. ':lock') == 0 then
    take(id, 'LREM', KEYS[2], 1, id)
  end
end
for _, id in ipairs(redis.call('ZRANGE', KEYS[3], 0, -1)) do
  take(id, 'ZREM', KEYS[3], id)
end
return jobs
`,
};

/**
 * Renews locks, including expired ones whose job no other worker has taken: BullMQ counts the takes
 * of a job in `ats`. KEYS: wait, active, prioritized, stalled. ARGV: prefix of the queue's job
 * keys, TTL, then job id, token and takes of each lock. Answers the ids whose lock is lost.
 */
export const RENEW_LOCKS: Script = {
  name: 'renewLocks',
  body: `
local function regain(id, takes)
  if redis.call('HGET', ARGV[1] .. id, 'ats') ~= takes then return false end
  if redis.call('LREM', KEYS[1], 1, id) + redis.call('ZREM', KEYS[3], id) > 0 then
    redis.call('LPUSH', KEYS[2], id)
  end
  return true
end
local lost = {}
for i = 3, #ARGV, 3 do
  local id, token = ARGV[i], ARGV[i + 1]
  local key = ARGV[1] .. id .. ':lock'
  local holder = redis.call('GET', key)
  if holder == token or (not holder and regain(id, ARGV[i + 2])) then
    redis.call('SET', key, token, 'PX', ARGV[2])
    redis.call('SREM', KEYS[4], id)
  else
    lost[#lost + 1] = id
  end
end
return lost
`,
};
