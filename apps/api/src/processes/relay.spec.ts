import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { FromProcess, ToProcess } from './messages';
import { Relay } from './relay';
import { ApiProcesses } from './api-processes';

let relay: Relay;
let members: ApiProcesses[];

/** A process behind the port, with its answer to every question. */
function member(place: number, answer: (question: unknown) => unknown, count = 3): ApiProcesses {
  let listener: (message: object) => void = () => undefined;
  const member = new ApiProcesses(count, place, {
    send: (message: FromProcess) => relay.receive(place, message),
    onMessage: (given) => (listener = given),
  });
  for (const topic of ['metrics', 'load'] as const) member.answer(topic, answer);
  relay.join(place, (message: ToProcess) => listener(message));
  members.push(member);
  return member;
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  members = [];
  relay = new Relay({ metrics: (kept, last) => `${(kept as string) ?? ''}${String(last)}` });
});
afterEach(() => vi.useRealTimers());

describe('API processes behind one port', () => {
  it('are asked together, without the one that asks', async () => {
    const asker = member(0, () => 'own');
    member(1, (question) => `b${String(question)}`);
    member(2, async (question) => Promise.resolve(`c${String(question)}`));
    expect(await asker.query('load', 7)).toEqual(['b7', 'c7']);
  });

  it('have no answers when a process has the port to itself', async () => {
    const alone = ApiProcesses.none();
    expect(alone.areThere).toBe(false);
    expect(await alone.query('load', 7)).toEqual([]);
  });

  it('do not hold up the others when one is late or ends', async () => {
    const asker = member(0, () => 'own');
    member(1, () => new Promise(() => undefined));
    member(2, () => 'c');
    const late = asker.query('load', 7);
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await late).toEqual(['c']);
    const ending = asker.query('load', 8);
    relay.leave(1);
    expect(await ending).toEqual(['c']);
  });

  it('keep what a late or ended process counted', async () => {
    const asker = member(0, () => 'a');
    let isLate = false;
    member(1, () => (isLate ? new Promise(() => undefined) : 'b'));
    expect(await asker.query('metrics', null, 'a')).toEqual(['b']);
    isLate = true;
    const late = asker.query('metrics', null, 'a');
    await vi.advanceTimersByTimeAsync(1_500);
    expect(await late).toEqual(['b']);
    const ending = asker.query('metrics', null, 'a');
    relay.leave(1);
    expect(await ending).toEqual(['b']);
    expect(await asker.query('metrics', null, 'a')).toEqual(['b']);
    const next = member(1, () => 'B');
    expect(await asker.query('metrics', null, 'a')).toEqual(['B', 'b']);
    relay.leave(0);
    expect(await next.query('metrics', null, 'B')).toEqual(['ba']);
  });

  it('answer nothing to a question of another topic', async () => {
    const asker = member(0, () => 'own');
    member(1, () => 'b');
    expect(await asker.query('pictures', 7)).toEqual([]);
  });
});
