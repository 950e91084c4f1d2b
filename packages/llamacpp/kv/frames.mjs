// The transfer format of a KV state: a manifest, chunks, and the hash of all of them, each framed
// as kind (1 byte), length (4), CRC-32 (4), payload. Pure: bytes in, frames out; never more than
// one frame is kept.
import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const HEAD_BYTES = 9;
export const CHUNK_BYTES = 256 * 1024;
/** A longer frame is not read. */
const MAX_FRAME_BYTES = 1024 * 1024;
const KIND = { manifest: 1, chunk: 2, end: 3 };

/** The bytes differ from those that were sent, or are no part of this protocol. */
export class GarbledState extends Error {}

/** Frames of a state with bytes that come piece by piece. */
export async function* framesOf(manifest, pieces) {
  yield frame(KIND.manifest, Buffer.from(JSON.stringify(manifest)));
  const hash = createHash('sha256');
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += CHUNK_BYTES) {
      const chunk = piece.subarray(at, at + CHUNK_BYTES);
      hash.update(chunk);
      yield frame(KIND.chunk, chunk);
    }
  }
  yield frame(KIND.end, hash.digest());
}

function frame(kind, payload) {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + payload.length);
  bytes.writeUInt8(kind, 0);
  bytes.writeUInt32LE(payload.length, 1);
  bytes.writeUInt32LE(crc32(payload), 5);
  payload.copy(bytes, HEAD_BYTES);
  return bytes;
}

/**
 * The chunks of a state, in order, once `check` has let its manifest pass.
 *
 * @param check called once with the manifest, before the first chunk; throws for one that is not
 *   wanted
 * @throws GarbledState for a wrong checksum, length, order or end; what was yielded until then is
 *   not to be used
 */
export async function* chunksIn(bytes, check) {
  const hash = createHash('sha256');
  let manifest;
  let received = 0;
  for await (const { kind, payload } of framesIn(bytes)) {
    if (manifest === undefined) {
      manifest = manifestIn(kind, payload);
      check(manifest);
    } else if (kind === KIND.chunk) {
      received += payload.length;
      if (received > manifest.bytes) throw new GarbledState('more bytes than announced');
      hash.update(payload);
      yield payload;
    } else if (kind === KIND.end) {
      if (received !== manifest.bytes) throw new GarbledState('fewer bytes than announced');
      if (!hash.digest().equals(payload)) throw new GarbledState('the hash of the whole differs');
      return;
    } else throw new GarbledState('an unknown frame');
  }
  throw new GarbledState('cut before its end');
}

async function* framesIn(bytes) {
  let rest = Buffer.alloc(0);
  for await (const part of bytes) {
    rest = rest.length === 0 ? Buffer.from(part) : Buffer.concat([rest, part]);
    let at = 0;
    while (rest.length - at >= HEAD_BYTES) {
      const end = at + HEAD_BYTES + lengthIn(rest.subarray(at));
      if (end > rest.length) break;
      yield frameIn(rest.subarray(at, end));
      at = end;
    }
    rest = rest.subarray(at);
  }
  if (rest.length > 0) throw new GarbledState('cut in a frame');
}

function lengthIn(head) {
  const length = head.readUInt32LE(1);
  if (length > MAX_FRAME_BYTES) throw new GarbledState('a frame beyond every bound');
  return length;
}

function frameIn(bytes) {
  const payload = bytes.subarray(HEAD_BYTES);
  if (crc32(payload) !== bytes.readUInt32LE(5)) throw new GarbledState('the checksum of a chunk');
  return { kind: bytes.readUInt8(0), payload };
}

function manifestIn(kind, payload) {
  if (kind !== KIND.manifest) throw new GarbledState('no manifest');
  try {
    const manifest = JSON.parse(payload.toString('utf8'));
    if (Number.isSafeInteger(manifest.bytes) && Number.isSafeInteger(manifest.tokens)) {
      return manifest;
    }
  } catch {
    // Checked below.
  }
  throw new GarbledState('no manifest');
}
