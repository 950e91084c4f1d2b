import type { Script } from './script';

/** Added to the turn of a busy consumer, so that all idle ones come before it. */
const BUSY = 4e15;

/**
 * The order in which the consumers of a queue that have room take jobs. A consumer's turn is the
 * time of its last take, or of its first request for a job, in µs by the server's clock. Idle
 * consumers come before busy ones, and then those with an earlier turn.
 *
 * KEYS: sorted set of the consumers with room, in their order; hash of the woken consumers with the
 * instant at which each loses its turn; BullMQ's marker. ARGV: id of the consumer, 1 if it is idle,
 * its turn (0 before its first), its room, prefix of the keys that wake consumers, TTL of these
 * keys and of the order, time that a woken consumer has (ms). The id is empty for a queue with one
 * consumer. Returns functions:
 *
 * share(left): enters the consumer, and returns how many of the waiting jobs it may take: none
 * while idle ones come before it, or if it was the last of several to take; otherwise one, or half
 * of an equal share. The consumer that Redis has woken is rarely the first, so any other one may
 * take: each order but that of the last keeps a consumer from taking twice in a row.
 *
 * took(count): the consumer is busy, and its turn is now.
 *
 * leaves(): wakes the first consumer for the jobs that are left; false if there is no other one. A
 * woken consumer that does not take in time loses its turn.
 */
export const TAKING_ORDER: Script = {
  name: 'order',
  body: `
local takers, woken, marker = KEYS[1], KEYS[2], KEYS[3]
local id, isIdle, turn, room = ARGV[1], ARGV[2] == '1', tonumber(ARGV[3]), tonumber(ARGV[4])
local time = redis.call('TIME')
local nowUs, momentUs = time[1] * 1000000 + time[2], ARGV[7] * 1000
local order = {turn = turn > 0 and turn or nowUs}
local function first()
  local one = redis.call('ZRANGE', takers, 0, 0)[1]
  local endUs = one and redis.call('HGET', woken, one)
  if not endUs or math.abs(endUs - momentUs / 2 - nowUs) <= momentUs / 2 then return one, endUs end
  redis.call('ZREM', takers, one)
  redis.call('HDEL', woken, one)
  return first()
end
local function enter()
  redis.call('ZADD', takers, order.turn + (isIdle and 0 or ${BUSY}), id)
  redis.call('PEXPIRE', takers, ARGV[6])
  if redis.call('HDEL', woken, id) == 1 then redis.call('DEL', ARGV[5] .. id) end
end
function order.share(left)
  if id == '' then return left end
  enter()
  if left == 0 then return 0 end
  first()
  local all, idle = redis.call('ZCARD', takers), redis.call('ZCOUNT', takers, 0, '(${BUSY}')
  if all == 1 then return left end
  if idle > 0 and not isIdle then return 0 end
  local ofKind, part = isIdle and idle or all, math.floor(left / (2 * all))
  local isLast = ofKind > 1 and redis.call('ZRANK', takers, id) == ofKind - 1
  return isLast and part or math.max(1, part)
end
function order.took(count)
  if id == '' or count == 0 then return end
  order.turn, isIdle = nowUs, false
  if count < room then enter() else redis.call('ZREM', takers, id) end
end
function order.leaves()
  if id == '' then return false end
  local heir, endUs = first()
  if not heir or heir == id then return false end
  if not endUs then
    redis.call('HSET', woken, heir, nowUs + momentUs)
    redis.call('PEXPIRE', woken, ARGV[6])
    redis.call('ZADD', ARGV[5] .. heir, 0, '0')
    redis.call('PEXPIRE', ARGV[5] .. heir, ARGV[6])
  end
  redis.call('ZREM', marker, '0')
  return true
end
return order
`,
};

/** A consumer that requests jobs. */
export interface JobTaker {
  readonly id: string;
  readonly isIdle: boolean;
  /** The value that the last take returned; 0 before the first. */
  readonly turn: number;
  /** Number of jobs for which it has room. */
  readonly room: number;
}

/** The place of a consumer in the order of takers. */
export function placeOf({ isIdle, turn }: JobTaker): number {
  return turn + (isIdle ? 0 : BUSY);
}
