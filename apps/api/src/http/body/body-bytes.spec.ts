import { describe, expect, it } from 'vitest';
import { BodyBytes } from './body-bytes';

/** The first fault of a body that comes in pieces of so many bytes; undefined: none. */
function faultOf(pieces: number, bytes: number, most = 1 << 20): [string, number] | undefined {
  const body = new BodyBytes(most);
  for (let index = 0; index < pieces; index += 1) {
    const fault = body.add(Buffer.alloc(bytes));
    if (fault !== undefined) return [fault, index + 1];
  }
  return undefined;
}

describe('the bytes of a body', () => {
  it('may come in a thousand pieces of one byte, and not in more', () => {
    expect(faultOf(1_024, 1)).toBeUndefined();
    expect(faultOf(2_000_000, 1)).toEqual(['fragmented', 1_025]);
  });

  it('may come in any number of longer pieces, up to their limit', () => {
    expect(faultOf(65_536, 16)).toBeUndefined();
    expect(faultOf(65_537, 16)).toEqual(['too-large', 65_537]);
  });
});
