import { buffer } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isLongBody, longBody } from './long-body';

const LONG = 300_000;

describe('a long body', () => {
  it('is sent whole, whatever its characters', async () => {
    const unit = fc.string({ unit: 'grapheme-composite', minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(unit, fc.nat(3), async (text, shift) => {
        const body = ' '.repeat(shift) + text.repeat(Math.ceil(LONG / text.length));
        expect((await buffer(longBody(body))).equals(Buffer.from(body))).toBe(true);
        const bytes = new Uint8Array(Buffer.from(body));
        expect((await buffer(longBody(bytes))).equals(Buffer.from(body))).toBe(true);
      }),
      { numRuns: 30 },
    );
  });

  it('is one that needs several writes', () => {
    expect(isLongBody('a'.repeat(LONG))).toBe(true);
    expect(isLongBody(new Uint8Array(LONG))).toBe(true);
    expect(isLongBody('short')).toBe(false);
    expect(isLongBody({ length: LONG })).toBe(false);
  });

  it('shares the turns of the event loop with others, a piece each', async () => {
    let written = 0;
    const bodies = Array.from({ length: 5 }, () => longBody('b'.repeat(LONG)));
    for (const body of bodies) body.on('data', () => (written += 1));
    let most = 0;
    for (let before = 0; bodies.some((body) => !body.readableEnded); before = written) {
      await nextTurn();
      most = Math.max(most, written - before);
    }
    expect(written).toBe(15);
    expect(most).toBe(1);
  });
});
