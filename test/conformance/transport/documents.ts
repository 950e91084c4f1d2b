import type { Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { waitUntil } from '../../support/wait';
import type { World, WorldFactory } from './world';

const BOUNDS = { maxEntries: 3, ttlMs: 60_000 };
const at = (id: string, collection = 'c') => ({ collection, id });

export function describeDocuments(makeWorld: WorldFactory): void {
  describe('documents', () => {
    let world: World;
    let a: Transport;
    let b: Transport;
    beforeEach(async () => {
      world = makeWorld();
      a = await world.connect();
      b = await world.connect();
    });
    afterEach(() => world.close());

    it('are readable by any process, unchanged', async () => {
      const text = JSON.stringify({ text: 'é😀\u0000', n: 1e308 });
      expect(await a.documents.put(at('x'), text, BOUNDS)).toBe('stored');
      expect(await b.documents.get(at('x'))).toBe(text);
      expect(await b.documents.get(at('y'))).toBeUndefined();
      expect(await b.documents.get(at('x', 'other'))).toBeUndefined();
    });

    it('are listed by their ids, the least recently used first', async () => {
      expect(await a.documents.ids('c')).toEqual([]);
      for (const id of ['1', '2', '3']) await a.documents.put(at(id), id, BOUNDS);
      await b.documents.get(at('1'));
      await a.documents.put(at('o', 'other'), 'o', BOUNDS);
      expect(await b.documents.ids('c')).toEqual(['2', '3', '1']);
      await a.documents.remove(at('3'));
      expect(await b.documents.ids('c')).toEqual(['2', '1']);
    });

    it('show their first lines without counting as used', async () => {
      const long = 'é'.repeat(100_000);
      const texts = { '1': '{"a":"é"}\n{}\n[]', '2': 'one line', '3': `short\n${long}` };
      for (const [id, text] of Object.entries(texts)) await a.documents.put(at(id), text, BOUNDS);
      const lines = await b.documents.firstLines('c', ['3', 'gone', '1', '2']);
      expect(lines).toEqual(['short', undefined, '{"a":"é"}', 'one line']);
      expect(await a.documents.ids('c')).toEqual(['1', '2', '3']);
    });

    it('are removed by one caller only', async () => {
      await a.documents.put(at('x'), '1', BOUNDS);
      const removed = await Promise.all([a, b, a, b].map((one) => one.documents.remove(at('x'))));
      expect(removed.filter(Boolean)).toHaveLength(1);
      expect(await a.documents.get(at('x'))).toBeUndefined();
    });

    it('are replaced only while they equal the version that the caller has read', async () => {
      await a.documents.put(at('x'), '1', BOUNDS);
      const changes = ['2', '3', '4'].map((to) =>
        b.documents.replace(at('x'), { from: '1', to }, BOUNDS),
      );
      expect(await Promise.all(changes)).toEqual(['replaced', 'changed', 'changed']);
      expect(await a.documents.get(at('x'))).toBe('2');
      await a.documents.remove(at('x'));
      expect(await b.documents.replace(at('x'), { from: '2', to: '3' }, BOUNDS)).toBe('changed');
      expect(await a.documents.get(at('x'))).toBeUndefined();
    });

    it('append entries to their last list, from many processes at once', async () => {
      await a.documents.put(at('x'), '{"é":[]}', BOUNDS);
      const all = Array.from({ length: 20 }, (_, i) => `{"n":${i},"to":["é"]}`);
      const added = all.map((entry, i) =>
        (i % 2 === 0 ? a : b).documents.extend(at('x'), entry, BOUNDS),
      );
      expect(new Set(await Promise.all(added))).toEqual(new Set(['extended']));
      const { é: list } = JSON.parse((await a.documents.get(at('x')))!) as { é: { n: number }[] };
      expect(list.map(({ n }) => n).sort((one, other) => one - other)).toEqual([...all.keys()]);
      expect(list[0]).toEqual({ n: list[0]!.n, to: ['é'] });
      expect(await a.documents.extend(at('y'), '1', BOUNDS)).toBe('gone');
      expect(await b.documents.get(at('y'))).toBeUndefined();
    });

    it('grow by entries within the bound of a document', async () => {
      await a.documents.put(at('x'), '{"a":[1]}', BOUNDS);
      const most = 8 * 1024 * 1024 - '{"a":[1,""]}'.length;
      const entry = (length: number): string => `"${'x'.repeat(length)}"`;
      expect(await a.documents.extend(at('x'), entry(most + 1), BOUNDS)).toBe('too-large');
      expect(await b.documents.get(at('x'))).toBe('{"a":[1]}');
      expect(await a.documents.extend(at('x'), entry(most), BOUNDS)).toBe('extended');
      expect(await a.documents.extend(at('x'), '2', BOUNDS)).toBe('too-large');
    });

    it('make room for new ones, the least recently used first', async () => {
      for (const id of ['1', '2', '3']) await a.documents.put(at(id), id, BOUNDS);
      await b.documents.get(at('1'));
      await b.documents.replace(at('2'), { from: '2', to: 'two' }, BOUNDS);
      await a.documents.put(at('4'), '4', BOUNDS);
      const found = await Promise.all(['1', '2', '3', '4'].map((id) => a.documents.get(at(id))));
      expect(found).toEqual(['1', 'two', undefined, '4']);
      await a.documents.put(at('1', 'other'), 'o', BOUNDS);
      expect(await a.documents.get(at('2'))).toBe('two');
    });

    it('stay within their limit with any writers', async () => {
      const ids = Array.from({ length: 40 }, (_, i) => String(i));
      await Promise.all(
        ids.map((id, i) => (i % 2 === 0 ? a : b).documents.put(at(id), id, BOUNDS)),
      );
      const found = await Promise.all(ids.map((id) => a.documents.get(at(id))));
      expect(found.filter((one) => one !== undefined)).toHaveLength(3);
    });

    it('expire after their time', async () => {
      await a.documents.put(at('x'), '1', { maxEntries: 3, ttlMs: 40 });
      await waitUntil(async () => (await b.documents.get(at('x'))) === undefined, {
        what: 'the document has expired',
      });
    });

    it('are read by many at once, at any size, beside other calls', async () => {
      await a.documents.put(at('x'), 'x'.repeat(1 << 20), BOUNDS);
      const reads = Array.from({ length: 24 }, async () => {
        const text = await b.documents.get(at('x'));
        return [text?.length, b.isConnected, await b.documents.ids('c')];
      });
      const found = new Set((await Promise.all(reads)).map(String));
      expect(found).toEqual(new Set(['1048576,true,x']));
    });

    it('may be large, up to a limit', async () => {
      const large = 'x'.repeat(1 << 20);
      expect(await a.documents.put(at('x'), large, BOUNDS)).toBe('stored');
      expect((await b.documents.get(at('x')))?.length).toBe(1 << 20);
      expect(await a.documents.put(at('y'), 'x'.repeat(9 << 20), BOUNDS)).toBe('too-large');
      expect(await a.documents.get(at('y'))).toBeUndefined();
      const change = { from: large, to: 'x'.repeat(9 << 20) };
      expect(await a.documents.replace(at('x'), change, BOUNDS)).toBe('too-large');
    });
  });
}
