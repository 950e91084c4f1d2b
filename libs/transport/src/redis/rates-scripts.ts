import type { Script } from './scripts/script';

/**
 * The server's clock is the only one, so that all API processes agree. Instants are written with
 * two decimals, because Lua's default format would lose the microseconds.
 */
const DEBT = `
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local function debtOf(key)
  return math.max(0, (tonumber(redis.call('GET', key)) or 0) - now)
end
local function write(key, debt)
  if debt <= 0 then
    redis.call('DEL', key)
  else
    redis.call('SET', key, string.format('%.2f', now + debt), 'PX', math.ceil(debt / 1000))
  end
end
`;

/**
 * KEYS: budgets. ARGV: deepest debt, then how much further from full each budget would be (all in
 * µs). Answers 1 when taken, then the debt of each, as text.
 */
export const TAKE_BUDGETS: Script = {
  name: 'takeBudgets',
  body: `${DEBT}
local before = {}
local after = {}
local isTaken = 1
for i, key in ipairs(KEYS) do
  before[i] = debtOf(key)
  after[i] = before[i] + ARGV[i + 1]
  if after[i] > tonumber(ARGV[1]) then isTaken = 0 end
end
local reply = {isTaken}
for i, key in ipairs(KEYS) do
  if isTaken == 1 and tonumber(ARGV[i + 1]) ~= 0 then write(key, after[i]) end
  reply[i + 1] = string.format('%.2f', isTaken == 1 and after[i] or before[i])
end
return reply
`,
};

/** KEYS: budget. ARGV: how much further from full it becomes, µs; negative: nearer. */
export const SETTLE_BUDGET: Script = {
  name: 'settleBudget',
  body: `${DEBT}
write(KEYS[1], debtOf(KEYS[1]) + ARGV[1])
return 0
`,
};
