import type { Script } from './scripts/script';

/** Marks an id as used now. Scores come from a counter in the set, so that no clock is needed. */
const USE = `
local function use(uses, id)
  local newest = redis.call('ZREVRANGE', uses, 0, 0, 'WITHSCORES')
  redis.call('ZADD', uses, (newest[2] or 0) + 1, id)
end
`;

/**
 * KEYS: document, uses. ARGV: id, prefix of documents, most entries, time to live of the set (ms).
 * The document was written just before.
 */
export const NOTE_DOCUMENT: Script = {
  name: 'noteDocument',
  body: `${USE}
if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
use(KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
local surplus = redis.call('ZCARD', KEYS[2]) - ARGV[3]
if surplus > 0 then
  for i, id in ipairs(redis.call('ZRANGE', KEYS[2], 0, surplus - 1)) do
    redis.call('DEL', ARGV[2] .. id)
    redis.call('ZREM', KEYS[2], id)
  end
end
return 1
`,
};

/**
 * KEYS: document. ARGV: expected text, new text, time to live (ms). Answers 1 when the text was as
 * expected.
 */
export const REPLACE_DOCUMENT: Script = {
  name: 'replaceDocument',
  isRefusedWhenFull: true,
  body: `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1
`,
};

/**
 * KEYS: document. ARGV: entries, most bytes of a document, time to live (ms). The document ends
 * with a list, `[…]}`. Answers 1, 0 when there is none, or -1 when it would be too long.
 */
export const EXTEND_DOCUMENT: Script = {
  name: 'extendDocument',
  isRefusedWhenFull: true,
  body: `
local length = redis.call('STRLEN', KEYS[1])
if length == 0 then return 0 end
local comma = redis.call('GETRANGE', KEYS[1], -3, -3) == '[' and '' or ','
local text = comma .. ARGV[1] .. ']}'
if length - 2 + #text > tonumber(ARGV[2]) then return -1 end
redis.call('SETRANGE', KEYS[1], length - 2, text)
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`,
};

/** KEYS: document, uses. ARGV: id. Answers the document or nil. */
export const READ_DOCUMENT: Script = {
  name: 'readDocument',
  body: `${USE}
local document = redis.call('GET', KEYS[1])
if document then
  use(KEYS[2], ARGV[1])
else
  redis.call('ZREM', KEYS[2], ARGV[1])
end
return document
`,
};

/** KEYS: documents. ARGV: most bytes of each. Answers the first line of each, '' without it. */
export const READ_FIRST_LINES: Script = {
  name: 'readFirstLines',
  body: `
local lines = {}
for i, key in ipairs(KEYS) do
  lines[i] = string.match(redis.call('GETRANGE', key, 0, ARGV[1] - 1), '^[^\\n]*')
end
return lines
`,
};

/** KEYS: document, uses. ARGV: id. Answers 1 when it existed. */
export const REMOVE_DOCUMENT: Script = {
  name: 'removeDocument',
  body: `
redis.call('ZREM', KEYS[2], ARGV[1])
return redis.call('DEL', KEYS[1])
`,
};
