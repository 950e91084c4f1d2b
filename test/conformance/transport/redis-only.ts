import { isDeepStrictEqual } from 'node:util';
import {
  connectRedisTransport,
  type Transport,
  TransportForeign,
  TransportOutOfMemory,
  TransportUnavailable,
} from '@baton/transport';
import { describe, expect, it } from 'vitest';
import { PATIENT, type PrivateRedis } from '../../support/redis-server';
import { waitUntil } from '../../support/wait';
import { freeze, job, jobs, redisWorld, start, Taking, withAdmin } from './world';

/** A deadline within which a server answers that is not silent. */
const LONGER_THAN_A_STALL_MS = 4_000;

/** Tests of effects that only a server outside the process has. */
export function describeRedisOnly(server: () => PrivateRedis): void {
  describe('with a real server', () => {
    it('reports a missing server in one sentence', async () => {
      const url = '/nowhere/redis.sock';
      // The first attempt fails within it, also when the machine stalls meanwhile.
      const connecting = connectRedisTransport({ url, times: { callDeadlineMs: 3_000 } });
      await expect(connecting).rejects.toThrow(TransportUnavailable);
      await expect(connecting).rejects.toThrow(/unix:\/nowhere\/redis\.sock: .*ENOENT/);
    });

    it('names the valid forms of addresses, and never repeats a password', async () => {
      const connecting = connectRedisTransport({ url: 'http://me:secret@host' });
      await expect(connecting).rejects.toThrow(/redis:\/\/.*cluster:\/\//);
      await expect(connecting).rejects.not.toThrow(/secret/);
    });

    it('describes its connection', async () => {
      const world = redisWorld(server());
      const transport = await world.connect();
      expect(transport.description).toMatch(/^Redis \d+\.\d+\.\d+ at unix:\/.*redis\.sock$/);
      await world.close();
    });

    it.each([
      ['engines', 'not a set'],
      ['places', 'not a hash'],
      ['waiting:prefill', 'not a hash'],
      ['queue:decode:wait', 'not a list'],
      ['docs:chat-texts', 'not a zset'],
      ['docs:adapters', 'not a zset'],
      ['docs:responses@alice', 'not a zset'],
    ])('refuses a prefix under which %s is a foreign key', async (key, what) => {
      const { url } = server();
      const prefix = `foreign-${key.replaceAll(':', '-')}`;
      await withAdmin(server(), (admin) => admin.set(`{${prefix}}:${key}`, 'x'));
      const times = { callDeadlineMs: 60_000 };
      const connecting = connectRedisTransport({ url, prefix, tenants: ['alice'], times });
      await expect(connecting).rejects.toThrow(TransportForeign);
      await expect(connecting).rejects.toThrow(`The prefix '${prefix}'`);
      await expect(connecting).rejects.toThrow(what);
    });

    it.each(['budget:anyone:requests', 'budget:alice:tokens'])(
      'refuses a prefix under which %s is not a budget',
      async (key) => {
        const { url } = server();
        const prefix = `foreign-${key.replaceAll(':', '-')}`;
        await withAdmin(server(), (admin) => admin.sadd(`{${prefix}}:${key}`, 'x'));
        const connecting = connectRedisTransport({ url, prefix, tenants: ['alice'] });
        await expect(connecting).rejects.toThrow(`${key} is a set, not a string`);
      },
    );

    it('is not connected while a key is foreign, and reconnects by itself', async () => {
      const world = redisWorld(server());
      const transport = await world.connect();
      const key = `{${world.prefix}}:waiting:prefill`;
      await withAdmin(server(), (admin) => admin.set(key, 'x'));
      const enter = (): Promise<boolean> => transport.admission.tryEnter('api', 'prefill', 1, 1);
      await expect(enter()).rejects.toThrow(TransportUnavailable);
      await waitUntil(() => !transport.isConnected, { what: 'it has noticed' });
      await withAdmin(server(), (admin) => admin.del(key));
      const hasRoom = (): Promise<boolean> => enter().catch(() => false);
      await waitUntil(hasRoom, { what: 'it is connected again, and there is room' });
      await world.close();
    });

    it('writes the waiting requests again after a write that failed', async () => {
      const world = redisWorld(server());
      const transport = await world.connect();
      const { admission, presence } = transport;
      await presence.announceApi('api', 60_000);
      await admission.tryEnter('api', 'prefill', 3, 10);
      const key = `{${world.prefix}}:waiting:prefill`;
      // Redis cannot add to a text, so that it fails the write while the link is up.
      await withAdmin(server(), (admin) => admin.hset(key, 'api', 'x'));
      await expect(admission.shift('api', { prefill: -1, decode: 1 })).rejects.toThrow();
      expect(transport.isConnected).toBe(true);
      const counts = (): Promise<unknown> => admission.totals().catch(() => undefined);
      const isRight = async (): Promise<boolean> =>
        isDeepStrictEqual(await counts(), { prefill: 2, decode: 1, aggregated: 0 });
      await waitUntil(isRight, { what: 'the counts are right again' });
      await world.close();
    });

    const place = { collection: 'responses', id: 'resp_1' };
    const bounds = { maxEntries: 10, ttlMs: 60_000 };
    it.each<[string, (transport: Transport) => Promise<unknown>]>([
      ['a request to enter', ({ admission }) => admission.tryEnter('api', 'decode', 1, 1)],
      ['a job to add', ({ jobs: queues }) => queues.add('decode', [job('late')])],
      ['a prompt to store', ({ ledger }) => ledger.putPrompt('late', Buffer.from('x'))],
      ['a document to store', ({ documents }) => documents.put(place, '{}', bounds)],
      ['a list of documents', ({ documents }) => documents.ids('responses')],
    ])(
      'counts as lost while the server does not answer %s, before it closes',
      async (_what, ask) => {
        const world = redisWorld(server(), { silenceMs: 200, callDeadlineMs: 60_000 });
        const transport = await world.connect();
        server().freeze();
        await expect(ask(transport)).rejects.toThrow('no answer');
        expect(transport.isConnected).toBe(false);
        await expect(ask(transport)).rejects.toThrow('no answer');
        server().thaw();
        await waitUntil(() => transport.isConnected, { what: 'it is connected again' });
        // A grant that came too late was given back.
        const isDone = (): Promise<boolean> =>
          ask(transport).then(
            (answer) => answer !== false,
            () => false,
          );
        await waitUntil(isDone, { what: 'it does what is asked' });
        await world.close();
      },
    );

    it('gives all that is added to an own queue a time to live, and all that is taken', async () => {
      const world = redisWorld(server());
      const transport = await world.connect();
      const endless = (part: string): Promise<string[]> =>
        withAdmin(server(), async (admin) => {
          const keys = await admin.keys(`{${world.prefix}}:queue:${part}*`);
          const ttls = await Promise.all(keys.map((key) => admin.pttl(key)));
          return keys.filter((_key, i) => ttls[i] === -1);
        });
      const urgent = { ...job('waits'), priority: 3 };
      await transport.jobs.add('engine:mortal', [job('taken'), job('waits-plainly'), urgent]);
      expect(await endless('engine')).toEqual([]);
      const taking = new Taking(transport, 'engine:mortal', { room: 1 });
      await taking.untilTaken(1);
      expect(await endless('engine')).toEqual([]);
      await transport.jobs.add('prefill', [job('shared')]);
      expect((await endless('prefill')).length).toBeGreaterThan(0);
      await world.close();
    });

    it('renews the time to live of an own queue', async () => {
      const world = redisWorld(server(), { queueLifeMs: 50 });
      const transport = await world.connect();
      const taking = new Taking(transport, 'engine:mortal', { room: 1 });
      await transport.jobs.add('engine:mortal', [job('taken'), job('waits')]);
      await taking.untilTaken(1);
      await withAdmin(server(), async (admin) => {
        const keys = await admin.keys(`{${world.prefix}}:queue:engine*`);
        const ours = keys.filter((key) => !/:lock$|:stalled-check$/.test(key));
        await Promise.all(ours.map((key) => admin.persist(key)));
        const haveTtl = async (): Promise<boolean> =>
          (await Promise.all(ours.map((key) => admin.pttl(key)))).every((ttl) => ttl !== -1);
        await waitUntil(haveTtl, { what: 'every key of the queue has a time to live' });
      });
      await world.close();
    });

    it('reports a lock as lost, once, when another worker has taken the job since', async () => {
      const prefix = 'late';
      const { url } = server();
      // A stall must not make its locks longer.
      const locks = { lockMs: 400, lockCeilingMs: 400, lockRenewMs: 3_000 };
      const slow = { ...PATIENT, ...locks, stalledCheckMs: 60_000 };
      const late = await connectRedisTransport({ url, prefix, times: slow });
      const taking = new Taking(late, 'prefill', { room: 1 });
      await late.jobs.add('prefill', [job('r0')]);
      await taking.untilTaken(1);
      const times = { ...PATIENT, stalledCheckMs: 50 };
      const quick = await connectRedisTransport({ url, prefix, times });
      const heir = new Taking(quick, 'prefill', { room: 1 });
      await heir.untilTaken(1);
      await waitUntil(() => taking.lost.length === 1, { what: 'the loss is reported' });
      expect(await taking.first().done()).toBe(false);
      await taking.first().giveBack();
      expect(await heir.first().done()).toBe(true);
      expect([taking.lostIds, heir.lostIds]).toEqual([['r0'], []]);
      await Promise.all([late.close(), quick.close()]);
    });

    it('returns an expired lock to its worker, also from the waiting list', async () => {
      const prefix = 'regained';
      const { url } = server();
      // From the end of the lock to its renewal it takes longer than a stall of the machine.
      const locks = { lockMs: 1_500, lockCeilingMs: 1_500, lockRenewMs: 8_000 };
      const slow = { ...PATIENT, ...locks, stalledCheckMs: 50 };
      const late = await connectRedisTransport({ url, prefix, times: slow });
      const taking = new Taking(late, 'prefill', { room: 1 });
      await late.jobs.add('prefill', [job('r0')]);
      await taking.untilTaken(1);
      const waiting = async (): Promise<number> => late.jobs.waiting('prefill');
      await waitUntil(async () => (await waiting()) === 1, { what: 'the job has stalled' });
      await waitUntil(async () => (await waiting()) === 0, { what: 'its worker has it again' });
      expect(await taking.first().done()).toBe(true);
      expect(taking.lost).toEqual([]);
      await late.close();
    });

    it('refuses new work when memory is full, and still drains what is there', async () => {
      const world = redisWorld(server());
      const transport = await world.connect();
      await transport.presence.announceApi('api-a', 60_000);
      await transport.jobs.add('prefill', jobs(3));
      const place = { collection: 'c', id: 'x' };
      const bounds = { maxEntries: 3, ttlMs: 60_000 };
      await transport.documents.put(place, '1', bounds);
      await withAdmin(server(), (admin) => admin.config('SET', 'maxmemory', '1mb'));
      await expect(transport.documents.put(place, '2', bounds)).rejects.toThrow(
        TransportOutOfMemory,
      );
      const change = { from: '1', to: '2' };
      await expect(transport.documents.replace(place, change, bounds)).rejects.toThrow(
        TransportOutOfMemory,
      );
      expect(await transport.documents.get(place)).toBe('1');
      await expect(transport.jobs.add('prefill', [job('more')])).rejects.toThrow(
        TransportOutOfMemory,
      );
      await expect(transport.ledger.putPrompt('p', Buffer.alloc(64))).rejects.toThrow(
        TransportOutOfMemory,
      );
      const taking = new Taking(await world.connect(), 'prefill');
      await taking.untilTaken(3);
      const permit = await transport.ledger.begin(start({ requestId: 'r0' }));
      expect(permit.kind).toBe('run');
      expect(await Promise.all(taking.taken.map((taken) => taken.done()))).toEqual([
        true,
        true,
        true,
      ]);
      await withAdmin(server(), (admin) => admin.config('SET', 'maxmemory', '0'));
      await transport.jobs.add('prefill', [job('more')]);
      await taking.untilTaken(4);
      await world.close();
    });

    it('rejects instead of hanging when the server does not answer, and recovers', async () => {
      const world = redisWorld(server(), { callDeadlineMs: LONGER_THAN_A_STALL_MS });
      const transport = await world.connect();
      server().freeze();
      await expect(transport.jobs.waiting('prefill')).rejects.toThrow(TransportUnavailable);
      await waitUntil(() => !transport.isConnected, { what: 'the silence is taken for a loss' });
      server().thaw();
      await waitUntil(() => transport.isConnected, { what: 'the connection is back' });
      expect(await transport.jobs.waiting('prefill')).toBe(0);
      await world.close();
    });

    it('waits longer for a silent server after a pause of its own', async () => {
      const world = redisWorld(server(), { silenceMs: 300 });
      const transport = await world.connect();
      await transport.presence.announceApi('api-a', 60_000);
      // It then waits for 8 s, which is longer than the pause below with a stall of the machine.
      freeze(3_000);
      await withAdmin(server(), (admin) => admin.client('PAUSE', 1_000, 'ALL'));
      const asked = await transport.admission.tryEnter('api-a', 'prefill', 1, 9);
      expect(asked).toBe(true);
      await world.close();
    });

    it('counts as lost also after a pause of its own while it waits for an answer', async () => {
      const world = redisWorld(server(), { silenceMs: 300 });
      const transport = await world.connect();
      server().freeze();
      const asked = transport.admission.totals();
      setTimeout(() => freeze(1_000), 50);
      await expect(asked).rejects.toThrow('no answer');
      expect(transport.isConnected).toBe(false);
      server().thaw();
      await world.close();
    });

    it('withdraws an admission that arrives after the deadline of its call', async () => {
      const world = redisWorld(server(), { callDeadlineMs: LONGER_THAN_A_STALL_MS });
      const transport = await world.connect();
      await transport.presence.announceApi('api-a', 60_000);
      server().freeze();
      const asking = transport.admission.tryEnter('api-a', 'prefill', 1, 9);
      await expect(asking).rejects.toThrow(TransportUnavailable);
      server().thaw();
      await waitUntil(async () => (await totalOrNone(transport)) === 0, {
        what: 'nothing is left of the admission',
      });
      await world.close();
    });

    it('gives a job to a living consumer after those whose turn it was have died', async () => {
      const world = redisWorld(server(), { deferenceMs: 1, stalledCheckMs: 60_000 });
      const transport = await world.connect();
      const alive = new Taking(transport, 'prefill');
      await world.untilWaiting('prefill', 0, 1);
      const places = `{${world.prefix}}:queue:prefill:takers`;
      const dead = [1, 'dead-idle', 2, 'dead-idle-too', 4e15, 'dead-busy'];
      await withAdmin(server(), (admin) => admin.zadd(places, ...dead));
      await transport.jobs.add('prefill', jobs(3));
      await alive.untilTaken(3);
      await world.untilWaiting('prefill', 0, 1);
      await world.close();
    });

    it('leaves no key without expiry except the queues themselves', async () => {
      const world = redisWorld(server());
      const transport = await world.connect();
      await transport.presence.announceApi('api-a', 60_000);
      const taking = new Taking(transport, 'prefill');
      await transport.jobs.add('prefill', [job('r')]);
      await taking.untilTaken(1);
      const permit = await transport.ledger.begin(start());
      if (permit.kind === 'run')
        await transport.ledger.finishRequest('r', permit.epoch, { reason: 'stop', tokens: 1 });
      await transport.ledger.putPrompt('r', Buffer.from('x'));
      await taking.first().done();
      const endless = await withAdmin(server(), async (admin) => {
        const keys = await admin.keys(`{${world.prefix}}:*`);
        const ttls = await Promise.all(keys.map((key) => admin.pttl(key)));
        return keys.filter((_, i) => ttls[i] === -1);
      });
      expect(endless.length).toBeGreaterThan(0);
      for (const key of endless)
        expect(key).toMatch(/:queue:prefill:(meta|events|id|marker|stalled)$/);
      await world.close();
    });
  });
}

/** None while the connection is lost. */
function totalOrNone({ admission }: Transport): Promise<number | undefined> {
  return admission.totals().then(
    ({ prefill }) => prefill,
    () => undefined,
  );
}
