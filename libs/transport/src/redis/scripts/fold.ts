import type { Script, ScriptCalls } from './script';

/**
 * The text of a script whose parts are Lua functions. It depends on the scripts and on the number
 * of their keys and arguments, not on values.
 */
export function fold(order: Script, calls: ScriptCalls): Script {
  return { ...order, body: partsOf(calls) + order.body };
}

function partsOf(calls: ScriptCalls): string {
  let [key, arg] = [0, 0];
  const functions = Object.entries(calls).map(([name, { script, keys, args }]) => {
    const ownKeys = `{unpack(KEYS, ${key + 1}, ${(key += keys.length)})}`;
    const ownArgs = `{unpack(ARGV, ${arg + 1}, ${(arg += args.length)})}`;
    return `
local ${name}Keys, ${name}Args = ${ownKeys}, ${ownArgs}
local function ${name}()
local KEYS, ARGV = ${name}Keys, ${name}Args
${script.body}
end
`;
  });
  return functions.join('');
}

/**
 * The text of a folded script that runs once per item. KEYS and ARGV are those of the first item;
 * then ARGV has the number of items, the numbers of keys and arguments that differ between items,
 * and their positions. The values at these positions follow for each further item. Answers a list
 * with the reply of each item; that of a failed one is its error.
 */
export function repeated(order: Script, calls: ScriptCalls): string {
  const parts = Object.entries(calls);
  const keyCount = parts.reduce((sum, [, { keys }]) => sum + keys.length, 0);
  const argCount = parts.reduce((sum, [, { args }]) => sum + args.length, 0);
  return `${partsOf(calls)}
local function place(at, value)
${placing(parts.map(([name, { keys }]) => [`${name}Keys`, keys.length]))}
end
local function placeArg(at, value)
${placing(parts.map(([name, { args }]) => [`${name}Args`, args.length]))}
end
local function item()
${order.body}
end
local items = tonumber(ARGV[${argCount + 1}])
local keys, args = ARGV[${argCount + 2}], ARGV[${argCount + 3}]
local replies, key, arg = {}, ${keyCount}, ${argCount + 3} + keys + args
for i = 1, items do
  if i > 1 then
    for k = 1, keys do place(tonumber(ARGV[${argCount + 3} + k]), KEYS[key + k]) end
    for k = 1, args do placeArg(tonumber(ARGV[${argCount + 3} + keys + k]), ARGV[arg + k]) end
    key, arg = key + keys, arg + args
  end
  local isDone, reply = pcall(item)
  if not isDone and type(reply) ~= 'table' then reply = {err = reply} end
  replies[i] = reply or false
end
return replies
`;
}

/** Statements that set one value in the list that has its position. */
function placing(lists: readonly (readonly [name: string, length: number])[]): string {
  let before = 0;
  const lines = lists.map(([list, length]) => {
    const line = `if at <= ${before + length} then ${list}[at - ${before}] = value return end`;
    before += length;
    return line;
  });
  return lines.join('\n');
}
