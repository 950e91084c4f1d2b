import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '@baton/kernel';

type Body = string | Uint8Array;

/** Bytes or characters of one write. Encoding and sending them needs about 1 ms on a slow core. */
const PIECE_LENGTH = 131_072;

/** All long bodies together write one piece in each turn of the event loop. */
const pieces = new Turns(1);

/** Whether a body is too long for one write. */
export function isLongBody(body: unknown): body is Body {
  const isBody = typeof body === 'string' || body instanceof Uint8Array;
  return isBody && body.length > 2 * PIECE_LENGTH;
}

/**
 * The bytes of a long body, in pieces that leave in different turns of the event loop and wait for
 * a client that is behind.
 */
export function longBody(body: Body): Readable {
  return Readable.from(readPieces(body), { objectMode: false });
}

async function* readPieces(body: Body): AsyncGenerator<Uint8Array> {
  let from = 0;
  while (from < body.length) {
    const to = pieceEnd(body, from);
    await pieces.take(() => nextTurn());
    yield typeof body === 'string' ? Buffer.from(body.slice(from, to)) : body.subarray(from, to);
    from = to;
  }
}

/** A character of two code units stays whole. */
function pieceEnd(body: Body, from: number): number {
  const end = from + PIECE_LENGTH;
  if (typeof body !== 'string') return end;
  return isHighSurrogate(body.charCodeAt(end - 1)) ? end + 1 : end;
}

/** Unicode 16.0, section 23.6: a high surrogate is followed by a low one. */
function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
