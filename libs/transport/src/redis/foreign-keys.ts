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

/** The collections of documents; each tenant has its own. */
const COLLECTIONS = ['responses', 'conversations', 'chat-texts', 'adapters'];
const BUDGETS = ['requests', 'tokens'];
/** The owner of the budgets of requests without a tenant. */
const ANYONE = 'anyone';
/** Tenants whose keys are checked: the check runs every few seconds, in one script. */
const MOST_TENANTS = 256;

/** Every cluster's keys and their types. A key of another type belongs to another program. */
export function typesOf(keys: Keys): readonly (readonly [key: string, type: string])[] {
  return [
    [keys.engines, 'set'],
    [keys.enginesRevision, 'string'],
    [keys.indexes, 'hash'],
    [keys.life, 'string'],
    ...keysOfOwner(keys, undefined),
    ...keys.tenants.slice(0, MOST_TENANTS).flatMap((tenant) => keysOfOwner(keys, tenant)),
    ...STAGES.flatMap((stage) => [
      [keys.waiting(stage), 'hash'] as const,
      ...OF_QUEUE.map(([part, type]) => [`${keys.queues}:${stage}:${part}`, type] as const),
    ]),
  ];
}

function keysOfOwner(
  keys: Keys,
  tenant: string | undefined,
): readonly (readonly [key: string, type: string])[] {
  const of = tenant === undefined ? '' : `@${tenant}`;
  return [
    ...COLLECTIONS.map((name) => [keys.documentUses(`${name}${of}`), 'zset'] as const),
    ...BUDGETS.map((name) => [keys.budget(tenant ?? ANYONE, name), 'string'] as const),
  ];
}
