import { isUtf8 } from 'node:buffer';
import { BatonError } from '@baton/contract';

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'utf-32le' | 'utf-32be';

/** Marks of byte order, the longer ones first: that of UTF-16 begins the one of UTF-32. */
const MARKS: readonly (readonly [mark: readonly number[], encoding: Encoding])[] = [
  [[0xff, 0xfe, 0, 0], 'utf-32le'],
  [[0, 0, 0xfe, 0xff], 'utf-32be'],
  [[0xff, 0xfe], 'utf-16le'],
  [[0xfe, 0xff], 'utf-16be'],
  [[0xef, 0xbb, 0xbf], 'utf-8'],
];
const HIGHEST_CHARACTER = 0x10ffff;
/** The event loop decodes as many bytes within 20 ms. */
const MOST_DECODED = 1024 * 1024;

/**
 * The bytes of JSON in UTF-8, without a mark of byte order. Like Python's `json.loads`, which vLLM
 * uses, it takes UTF-16 and UTF-32 with or without a mark: the first character is ASCII, so the
 * zeros around it show the encoding.
 *
 * @throws BatonError `invalid_json` when the bytes are no text, `body_too_large` for a long body in
 *   another encoding than UTF-8
 */
export function utf8Body(bytes: Buffer): Buffer {
  const [mark, encoding] = MARKS.find(([one]) => one.every((byte, i) => bytes[i] === byte)) ?? [
    [],
    unmarkedEncoding(bytes),
  ];
  const text = bytes.subarray(mark.length);
  if (encoding !== 'utf-8') {
    if (text.length > MOST_DECODED) throw notUtf8();
    return Buffer.from(decoded(text, encoding));
  }
  // A replacement character would change the prompt.
  if (!isUtf8(text)) throw notText();
  return text;
}

function unmarkedEncoding(bytes: Buffer): Encoding {
  const [first, second, third] = bytes;
  if (first === 0) return second === 0 ? 'utf-32be' : 'utf-16be';
  if (second !== 0) return 'utf-8';
  return third === 0 && bytes.length > 2 ? 'utf-32le' : 'utf-16le';
}

function decoded(bytes: Buffer, encoding: Exclude<Encoding, 'utf-8'>): string {
  if (encoding === 'utf-32le' || encoding === 'utf-32be') return ofUtf32(bytes, encoding);
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    throw notText();
  }
}

function ofUtf32(bytes: Buffer, encoding: 'utf-32le' | 'utf-32be'): string {
  if (bytes.length % 4 !== 0) throw notText();
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    const character = encoding === 'utf-32le' ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at);
    if (character > HIGHEST_CHARACTER) throw notText();
    pieces.push(String.fromCodePoint(character));
  }
  return pieces.join('');
}

function notText(): BatonError {
  return new BatonError('invalid_json', 'The request body is not text in UTF-8, UTF-16 or UTF-32.');
}

function notUtf8(): BatonError {
  const message = 'A request body of more than 1 MiB must be in UTF-8.';
  return new BatonError('body_too_large', message);
}
