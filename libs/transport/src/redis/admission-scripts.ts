import type { Script } from './scripts/script';

const LIVING_TOTAL = `
local function livingTotal(shares, own, apiPrefix)
  local total = 0
  local all = redis.call('HGETALL', shares)
  for i = 1, #all, 2 do
    if all[i] ~= own and redis.call('EXISTS', apiPrefix .. all[i]) == 0 then
      redis.call('HDEL', shares, all[i])
    else
      total = total + all[i + 1]
    end
  end
  return total
end
`;

/**
 * KEYS: shares of the stage. ARGV: API id, count, limit, prefix of API keys. Answers 1 when
 * admitted.
 */
export const TRY_ENTER: Script = {
  name: 'tryEnter',
  body: `${LIVING_TOTAL}
if livingTotal(KEYS[1], ARGV[1], ARGV[4]) + ARGV[2] > tonumber(ARGV[3]) then return 0 end
redis.call('HINCRBY', KEYS[1], ARGV[1], ARGV[2])
return 1
`,
};

/**
 * KEYS: shares, one hash per stage. ARGV: API id, prefix of API keys, one delta per stage. A share
 * is never below 0. Answers one total per stage.
 */
export const SHIFT: Script = {
  name: 'shift',
  body: `${LIVING_TOTAL}
local totals = {}
for i, shares in ipairs(KEYS) do
  if ARGV[i + 2] ~= '0' and redis.call('HINCRBY', shares, ARGV[1], ARGV[i + 2]) <= 0 then
    redis.call('HDEL', shares, ARGV[1])
  end
  totals[i] = livingTotal(shares, ARGV[1], ARGV[2])
end
return totals
`,
};

/** KEYS: shares, one hash per stage. ARGV: API id, one share per stage. */
export const SET_SHARES: Script = {
  name: 'setShares',
  body: `
for i, shares in ipairs(KEYS) do
  if ARGV[i + 1] == '0' then
    redis.call('HDEL', shares, ARGV[1])
  else
    redis.call('HSET', shares, ARGV[1], ARGV[i + 1])
  end
end
return 0
`,
};

/** KEYS: shares, one hash per stage. ARGV: prefix of API keys. Answers one total per stage. */
export const TOTALS: Script = {
  name: 'totals',
  body: `${LIVING_TOTAL}
local totals = {}
for i, shares in ipairs(KEYS) do totals[i] = livingTotal(shares, '', ARGV[1]) end
return totals
`,
};
