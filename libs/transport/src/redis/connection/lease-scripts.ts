import type { Script } from '../scripts/script';

/**
 * Extends leases that this process still has, as BullMQ's `extendLock` does, and never shortens
 * one. KEYS: locks and presences. ARGV: per key the value that it must have (empty: any), and its
 * TTL in ms. Answers the number of living leases.
 */
export const EXTEND_LEASES: Script = {
  name: 'extendLeases',
  body: `
local living = 0
for i, key in ipairs(KEYS) do
  local value, ttl = ARGV[2 * i - 1], tonumber(ARGV[2 * i])
  local left = redis.call('PTTL', key)
  if left >= 0 and (value == '' or redis.call('GET', key) == value) then
    if left < ttl then redis.call('PEXPIRE', key, ttl) end
    living = living + 1
  end
end
return living
`,
};
