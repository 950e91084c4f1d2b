import type { Script } from './scripts/script';

/** Of the board: engine id and instant, so that no value comes twice, not even on a new server. */
const REVISE = `
local now = redis.call('TIME')
redis.call('SET', KEYS[4], now[1] .. '.' .. now[2] .. ARGV[1])
`;

/**
 * KEYS: engine, engines, indexes, revision. ARGV: engine id, presence JSON, TTL, index. Answers 1
 * when the index is the engine's.
 */
export const ANNOUNCE_ENGINE: Script = {
  name: 'announceEngine',
  body: `${REVISE}
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[1])
redis.call('HSETNX', KEYS[3], ARGV[4], ARGV[1])
return redis.call('HGET', KEYS[3], ARGV[4]) == ARGV[1] and 1 or 0
`,
};

/** KEYS: engine, engines, indexes, revision, claim. ARGV: engine id. */
export const REMOVE_ENGINE: Script = {
  name: 'removeEngine',
  body: `${REVISE}
redis.call('DEL', KEYS[1], KEYS[5])
redis.call('SREM', KEYS[2], ARGV[1])
local indexes = redis.call('HGETALL', KEYS[3])
for i = 1, #indexes, 2 do
  if indexes[i + 1] == ARGV[1] then redis.call('HDEL', KEYS[3], indexes[i]) end
end
return 0
`,
};

/**
 * KEYS: engines, revision. ARGV: prefix of engine keys, the revision and the number of engines that
 * the reader knows. Returns the revision and the presences of living engines, or nothing if the
 * reader already has them. Removes dead engines.
 */
export const LIST_ENGINES: Script = {
  name: 'listEngines',
  body: `
local living = {}
for _, id in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  if redis.call('EXISTS', ARGV[1] .. id) == 1 then
    living[#living + 1] = id
  else
    redis.call('SREM', KEYS[1], id)
  end
end
local revision = redis.call('GET', KEYS[2]) or ''
if revision == ARGV[2] and #living == tonumber(ARGV[3]) then return false end
for i, id in ipairs(living) do living[i] = redis.call('GET', ARGV[1] .. id) end
return {revision, living}
`,
};

/**
 * KEYS: indexes, claim of this engine. ARGV: engine id, prefix of engine keys, prefix of claims,
 * claim TTL, wanted index. Answers the index.
 */
export const CLAIM_INDEX: Script = {
  name: 'claimIndex',
  body: `
local taken, own = {}, nil
local indexes = redis.call('HGETALL', KEYS[1])
for i = 1, #indexes, 2 do
  local index, id = indexes[i], indexes[i + 1]
  if id == ARGV[1] then
    own = tonumber(index)
  elseif redis.call('EXISTS', ARGV[2] .. id, ARGV[3] .. id) == 0 then
    redis.call('HDEL', KEYS[1], index)
  else
    taken[tonumber(index)] = true
  end
end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[4])
if own then return own end
local free = tonumber(ARGV[5])
if taken[free] then free = 0 end
while taken[free] do free = free + 1 end
redis.call('HSET', KEYS[1], free, ARGV[1])
return free
`,
};

/** KEYS: API. ARGV: TTL. Answers 1 when the API was considered alive until now. */
export const ANNOUNCE_API: Script = {
  name: 'announceApi',
  body: `
local wasAlive = redis.call('EXISTS', KEYS[1])
redis.call('SET', KEYS[1], '1', 'PX', ARGV[1])
return wasAlive
`,
};
