import { connectRedisTransport, type Transport, TransportRefused } from '@baton/transport';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../support/free-port';
import { PATIENT, PrivateRedis } from '../../support/redis-server';
import { waitUntil } from '../../support/wait';
import { job, redisWorld, Taking, withAdmin } from './world';

/** What a server of others can refuse, and what the line about it names. */
export function describeRefusals(): void {
  describe('a server of others', () => {
    let server: PrivateRedis;
    let port: number;
    beforeAll(async () => {
      port = await freePort();
      server = await PrivateRedis.launch('--port', String(port));
    });
    afterAll(() => server.close());

    let warning = '';
    const connect = (login = ''): Promise<Transport> =>
      connectRedisTransport({
        url: `redis://${login}127.0.0.1:${port}`,
        times: PATIENT,
        onWarning: (text) => (warning = text),
      });

    const asUser = async (...rules: string[]): Promise<Transport> => {
      const all = ['reset', 'on', '>secret', '~{baton}:*', '&{baton}:*', '+@all'];
      await withAdmin(server, (admin) => admin.call('ACL', 'SETUSER', 'app', ...all, ...rules));
      return connect('app:secret@');
    };

    it.each([
      ['-@scripting', "the command 'eval'"],
      ['-hset', "the command 'hset'"],
      ['-bzpopmin', "the command 'bzpopmin'"],
      ['-subscribe', "the command 'subscribe'"],
    ])('that denies %s is refused in one line that names it', async (rule, what) => {
      const refused = asUser(rule);
      await expect(refused).rejects.toThrow(TransportRefused);
      await expect(refused).rejects.toThrow(what);
      await expect(refused).rejects.toThrow(/^[^\n]*denies its user 'app'[^\n]*$/);
    });

    it('that denies the channels or the keys is refused', async () => {
      await expect(asUser('resetchannels')).rejects.toThrow('the channels {baton}:*');
      await expect(asUser('resetkeys', '~other*')).rejects.toThrow('the keys {baton}:*');
    });

    it('without dangerous commands, INFO too, serves, and its loss of data is noticed', async () => {
      const transport = await asUser('-@dangerous', '-@admin');
      expect(transport.description).toMatch(/^Redis \d+\.\d+\.\d+ /);
      expect(warning).toContain('denies INFO');
      const events: string[] = [];
      transport.onConnection((event) => events.push(event));
      await withAdmin(server, (admin) => admin.flushall());
      await waitUntil(() => events.includes('replaced'), { what: 'the loss is noticed' });
      const taking = new Taking(transport, 'prefill', { room: 1 });
      await transport.jobs.add('prefill', [job('r')]);
      await taking.untilTaken(1);
      await transport.close();
    });

    it('that evicts is refused when it has a limit, and else warned of', async () => {
      const set = (...pair: [string, string]): Promise<unknown> =>
        withAdmin(server, (admin) => admin.config('SET', ...pair));
      await set('maxmemory-policy', 'volatile-lru');
      await (await connect()).close();
      expect(warning).toContain('volatile-lru');
      await set('maxmemory', '64mb');
      await expect(connect()).rejects.toThrow(/maxmemory-policy volatile-lru.*noeviction/);
      await set('maxmemory-policy', 'noeviction');
      await (await connect()).close();
      expect(warning).toBe('');
      await set('maxmemory', '0');
    });

    it('that begins to evict is not to be used, and lost keys mean lost data', async () => {
      const world = redisWorld(server);
      const transport = await world.connect();
      const events: string[] = [];
      transport.onConnection((event) => events.push(event));
      const set = (...pair: [string, string]): Promise<unknown> =>
        withAdmin(server, (admin) => admin.config('SET', ...pair));
      await set('maxmemory-policy', 'allkeys-random');
      await set('maxmemory', '64mb');
      await waitUntil(() => transport.trouble === 'evicting', { what: 'it evicts' });
      expect(events).toEqual([]);
      await withAdmin(server, async (admin) => {
        await admin.mset(Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [i, 'x'])));
        await admin.config('SET', 'maxmemory', '1kb');
        await admin.get('x');
      });
      await waitUntil(() => events.includes('replaced'), { what: 'the loss is noticed' });
      await set('maxmemory', '0');
      await set('maxmemory-policy', 'noeviction');
      await waitUntil(() => transport.trouble === undefined, { what: 'it evicts no more' });
      await withAdmin(server, (admin) => admin.flushall());
      await world.close();
    });

    it('that is a replica or a node of a cluster is refused with the address to use', async () => {
      await withAdmin(server, (admin) => admin.replicaof('127.0.0.1', 1));
      await expect(connect()).rejects.toThrow(/is a read-only replica: .*sentinel:/);
      await withAdmin(server, (admin) => admin.replicaof('NO', 'ONE'));
      const nodePort = await freePort();
      const flags = ['--port', String(nodePort), '--cluster-enabled', 'yes'];
      const node = await PrivateRedis.launch(...flags);
      const url = `redis://127.0.0.1:${nodePort}`;
      await expect(connectRedisTransport({ url })).rejects.toThrow(
        `cluster://127.0.0.1:${nodePort}`,
      );
      await node.close();
    });

    it('is full until something can be stored again', async () => {
      const world = redisWorld(server);
      const transport = await world.connect();
      const set = (limit: string): Promise<unknown> =>
        withAdmin(server, (admin) => admin.config('SET', 'maxmemory', limit));
      await set('1');
      await waitUntil(() => transport.trouble === 'full', { what: 'it is full' });
      expect(transport.isConnected).toBe(true);
      await set('0');
      await waitUntil(() => transport.trouble === undefined, { what: 'it has room' });
      await world.close();
    });
  });
}
