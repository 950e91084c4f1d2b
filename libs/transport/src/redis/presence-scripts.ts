import type { Script } from './scripts/script';

/** Of the board: engine id and instant, so that no value comes twice, not even on a new server. */
const REVISE = `
local now = redis.call('TIME')
redis.call('SET', KEYS[4], now[1] .. '.' .. now[2] .. ARGV[1])
`;

/**
 * KEYS: engine, engines, places, revision. ARGV: engine id, presence JSON, TTL, index, name.
 * Answers 1 when both the index and the name are the engine's.
 */
export const ANNOUNCE_ENGINE: Script = {
  name: 'announceEngine',
  body: `${REVISE}
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('SADD', KEYS[2], ARGV[1])
for i = 4, 5 do
  redis.call('HSETNX', KEYS[3], ARGV[i], ARGV[1])
  if redis.call('HGET', KEYS[3], ARGV[i]) ~= ARGV[1] then return 0 end
end
return 1
`,
};

/** KEYS: engine, engines, places, revision, claim. ARGV: engine id. */
export const REMOVE_ENGINE: Script = {
  name: 'removeEngine',
  body: `${REVISE}
redis.call('DEL', KEYS[1], KEYS[5])
redis.call('SREM', KEYS[2], ARGV[1])
local places = redis.call('HGETALL', KEYS[3])
for i = 1, #places, 2 do
  if places[i + 1] == ARGV[1] then redis.call('HDEL', KEYS[3], places[i]) end
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
 * KEYS: places, claim of this engine. ARGV: engine id, prefix of engine keys, prefix of claims,
 * claim TTL, wanted number, prefix and suffix of the name (both empty: an index). Answers the
 * number.
 */
export const CLAIM_NUMBER: Script = {
  name: 'claimNumber',
  body: `
local taken, own = {}, nil
local isIndex = ARGV[6] == ''
local places = redis.call('HGETALL', KEYS[1])
for i = 1, #places, 2 do
  local place, id = places[i], places[i + 1]
  if id == ARGV[1] then
    if (tonumber(place) ~= nil) == isIndex then own = tonumber(string.match(place, '%d+')) end
  elseif redis.call('EXISTS', ARGV[2] .. id, ARGV[3] .. id) == 0 then
    redis.call('HDEL', KEYS[1], place)
  else
    taken[place] = true
  end
end
redis.call('SET', KEYS[2], '1', 'PX', ARGV[4])
if own then return own end
local function placeOf(number) return ARGV[6] .. number .. ARGV[7] end
local free = tonumber(ARGV[5])
if taken[placeOf(free)] then free = 0 end
while taken[placeOf(free)] do free = free + 1 end
redis.call('HSET', KEYS[1], placeOf(free), ARGV[1])
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
