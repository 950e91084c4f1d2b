import type { Script } from './script';

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
