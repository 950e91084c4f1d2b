import { TransportRefused } from '../../port/failures';
import type { RedisAddress } from '../address/address';
import type { Keys } from '../keys';
import type { Script, ScriptRunner } from '../scripts/script';
import type { MarkingClient } from './client';
import { deniedLine, isDenied } from './refusals';

/** Calls of scripts, of BullMQ's too, that stand for their kind; none of them leaves a key. */
const CALLS: readonly (readonly string[])[] = [
  ['SET', 'KEY', '1', 'PX', '1000'],
  ['GET', 'KEY'],
  ['INCR', 'KEY'],
  ['PEXPIRE', 'KEY', '1000'],
  ['PTTL', 'KEY'],
  ['PERSIST', 'KEY'],
  ['EXISTS', 'KEY'],
  ['TYPE', 'KEY'],
  ['DEL', 'KEY'],
  ['HSET', 'KEY', 'a', '1'],
  ['HGETALL', 'KEY'],
  ['HINCRBY', 'KEY', 'a', '1'],
  ['HDEL', 'KEY', 'a'],
  ['LPUSH', 'KEY', 'a'],
  ['RPOPLPUSH', 'KEY', 'KEY'],
  ['LRANGE', 'KEY', '0', '0'],
  ['LREM', 'KEY', '1', 'a'],
  ['SADD', 'KEY', 'a'],
  ['SMEMBERS', 'KEY'],
  ['SREM', 'KEY', 'a'],
  ['ZADD', 'KEY', '1', 'a'],
  ['ZRANGE', 'KEY', '0', '0'],
  ['ZPOPMIN', 'KEY'],
  ['XADD', 'KEY', '*', 'a', '1'],
  ['XTRIM', 'KEY', 'MAXLEN', '0'],
  ['DEL', 'KEY'],
  ['TIME'],
];

/** KEYS: a key of this script. ARGV: calls as JSON. Answers the first denied command's name. */
const FIND_DENIED: Script = {
  name: 'findDenied',
  body: `
for _, call in ipairs(cjson.decode(ARGV[1])) do
  for i, word in ipairs(call) do if word == 'KEY' then call[i] = KEYS[1] end end
  local reply = redis.pcall(unpack(call))
  local text = type(reply) == 'table' and reply.err or ''
  if string.find(text, 'NOPERM', 1, true) or string.find(text, "can't run this", 1, true) then
    return call[1]
  end
end
return false
`,
};

export interface CheckedServer {
  readonly address: RedisAddress;
  readonly commands: MarkingClient;
  readonly subscriber: MarkingClient;
  readonly scripts: ScriptRunner;
  readonly keys: Keys;
}

/**
 * Checks once, before a cluster starts, that a server of others can carry it: the permissions of
 * the user, and that it evicts no keys. Returns a warning, or '' when all is well.
 *
 * @throws TransportRefused, or the reply of the server that denies a command
 */
export async function checkServer(server: CheckedServer): Promise<string> {
  await checkPermissions(server);
  return checkEviction(server);
}

async function checkPermissions(server: CheckedServer): Promise<void> {
  const { address, commands, subscriber, scripts, keys } = server;
  const probe = keys.channel('probe');
  const denied = await scripts.run(FIND_DENIED, [probe], [JSON.stringify(CALLS)]);
  if (typeof denied === 'string') {
    const error = new Error(`NOPERM the '${denied.toLowerCase()}' command`);
    throw new TransportRefused(deniedLine(error, address, keys));
  }
  await commands.publish(probe, '');
  await commands.zadd(probe, 1, '');
  await commands.bzpopmin(probe, 1);
  await subscriber.subscribe(probe);
  await subscriber.unsubscribe(probe);
}

async function checkEviction({ address, commands }: CheckedServer): Promise<string> {
  const info = await infoOf(commands);
  if (info === undefined)
    return "It denies INFO, so that its eviction policy is unknown: it must be 'noeviction'.";
  const policy = policyIn(info);
  if (policy === 'noeviction') return '';
  if (evictsKeys(info))
    throw new TransportRefused(
      `${address.label} evicts keys when its memory is full (maxmemory-policy ${policy}), which ` +
        'would lose requests: set maxmemory-policy to noeviction.',
    );
  return `Its maxmemory-policy is ${policy}: set it to noeviction before you set maxmemory.`;
}

function policyIn(info: string): string {
  return /^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? 'noeviction';
}

/** Whether the server deletes keys when its memory is full. */
export function evictsKeys(info: string): boolean {
  return policyIn(info) !== 'noeviction' && /^maxmemory:[1-9]/m.test(info);
}

/** The reply of INFO; undefined when the user of the connection may not ask. */
export async function infoOf(commands: MarkingClient): Promise<string | undefined> {
  try {
    return await commands.info();
  } catch (error) {
    if (isDenied(error)) return undefined;
    throw error;
  }
}
