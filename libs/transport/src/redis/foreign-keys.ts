import { STAGES } from '@baton/contract';
import type { Script } from './scripts/script';
import type { Keys } from './keys';

/** KEYS: any. ARGV: their types. Returns the first foreign key, its type and the expected one. */
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

type TypedKey = readonly [key: string, type: string];

/** The keys of a queue by their types in Redis; `takers` and `woken` are ours, others BullMQ's. */
const OF_QUEUE = Object.entries({
  list: ['wait', 'active'],
  zset: ['prioritized', 'marker', 'takers'],
  set: ['stalled'],
  hash: ['meta', 'woken'],
  stream: ['events'],
  string: ['id'],
}).flatMap(([type, parts]) => parts.map((part) => [part, type] as const));

/** The collections of documents; each tenant has its own. */
const COLLECTIONS = ['responses', 'conversations', 'chat-texts', 'adapters'];
const BUDGETS = ['requests', 'tokens'];
/** The owner of the budgets of requests without a tenant. */
const ANYONE = 'anyone';
/** Tenants whose keys are checked: the check runs every few seconds, in one script. */
const MOST_TENANTS = 256;

/** Every cluster's keys and their types. A key of another type belongs to another program. */
export function typesOf(keys: Keys): readonly TypedKey[] {
  return [
    [keys.engines, 'set'],
    [keys.enginesRevision, 'string'],
    [keys.places, 'hash'],
    [keys.life, 'string'],
    ...keysOfOwner(keys, undefined),
    ...keys.tenants.slice(0, MOST_TENANTS).flatMap((tenant) => keysOfOwner(keys, tenant)),
    ...STAGES.flatMap((stage) => [
      [keys.waiting(stage), 'hash'] as const,
      ...OF_QUEUE.map(([part, type]) => [`${keys.queues}:${stage}:${part}`, type] as const),
    ]),
  ];
}

function keysOfOwner(keys: Keys, tenant: string | undefined): readonly TypedKey[] {
  const of = tenant === undefined ? '' : `@${tenant}`;
  return [
    ...COLLECTIONS.map((name) => [keys.documentUses(`${name}${of}`), 'zset'] as const),
    ...BUDGETS.map((name) => [keys.budget(tenant ?? ANYONE, name), 'string'] as const),
  ];
}
