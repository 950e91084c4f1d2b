import { STAGES } from '@baton/contract';
import type { Script } from '@baton/redis-scripts';
import type { Keys } from './keys';

/**
 * KEYS: any. ARGV: the type of each. Answers the first key of another type: key, type, expected
 * type.
 */
export const FIND_FOREIGN: Script = {
  name: 'findForeign',
  body: `
for i, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'none' and kind ~= ARGV[i] then return { key, kind, ARGV[i] } end
end
return false
`,
};

/** The keys of a queue, with their types in Redis; all but the last two are BullMQ's. */
const OF_QUEUE: readonly (readonly [string, string])[] = [
  ['wait', 'list'],
  ['active', 'list'],
  ['prioritized', 'zset'],
  ['stalled', 'set'],
  ['marker', 'zset'],
  ['meta', 'hash'],
  ['events', 'stream'],
  ['id', 'string'],
  ['takers', 'zset'],
  ['woken', 'hash'],
];

/**
 * The keys that every cluster has, and their types. A key of another type belongs to another
 * program.
 */
export function typesOf(keys: Keys): readonly (readonly [key: string, type: string])[] {
  return [
    [keys.engines, 'set'],
    [keys.enginesRevision, 'string'],
    [keys.indexes, 'hash'],
    [keys.life, 'string'],
    [keys.documentUses('responses'), 'zset'],
    [keys.documentUses('conversations'), 'zset'],
    ...STAGES.flatMap((stage) => [
      [keys.waiting(stage), 'hash'] as const,
      ...OF_QUEUE.map(([part, type]) => [`${keys.queues}:${stage}:${part}`, type] as const),
    ]),
  ];
}
