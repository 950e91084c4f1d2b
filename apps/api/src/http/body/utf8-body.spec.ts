import { BatonError } from '@baton/contract';
import { describe, expect, it } from 'vitest';
import { utf8Body } from './utf8-body';

const JSON_TEXT = '{"prompt":"grüße 🏃"}';

function inUtf32(text: string, isBig: boolean): Buffer {
  const characters = [...text].map((one) => one.codePointAt(0)!);
  const bytes = Buffer.alloc(characters.length * 4);
  characters.forEach((one, i) =>
    isBig ? bytes.writeUInt32BE(one, i * 4) : bytes.writeUInt32LE(one, i * 4),
  );
  return bytes;
}

const little = Buffer.from(JSON_TEXT, 'utf16le');
const big = Buffer.from(little).swap16();

describe('JSON as tools send it', () => {
  it.each([
    ['UTF-8', Buffer.from(JSON_TEXT)],
    ['UTF-8 with a mark', Buffer.from(`\ufeff${JSON_TEXT}`)],
    ['UTF-16, little-endian', little],
    ['UTF-16, little-endian, with a mark', Buffer.concat([Buffer.from([0xff, 0xfe]), little])],
    ['UTF-16, big-endian', big],
    ['UTF-16, big-endian, with a mark', Buffer.concat([Buffer.from([0xfe, 0xff]), big])],
    ['UTF-32, little-endian', inUtf32(JSON_TEXT, false)],
    ['UTF-32, little-endian, with a mark', inUtf32(`\ufeff${JSON_TEXT}`, false)],
    ['UTF-32, big-endian', inUtf32(JSON_TEXT, true)],
    ['UTF-32, big-endian, with a mark', inUtf32(`\ufeff${JSON_TEXT}`, true)],
  ])('is read from %s', (_encoding, bytes) => {
    expect(utf8Body(bytes).toString()).toBe(JSON_TEXT);
  });

  it.each([
    ['a byte that no text has', Buffer.from([0x22, 0xff, 0x22])],
    ['half a character', Buffer.from([0x22, 0x00, 0x61])],
    ['half a surrogate pair', Buffer.from([0x22, 0x00, 0x00, 0xd8])],
    ['a character beyond Unicode', Buffer.from([0x22, 0, 0, 0, 0, 0, 0x11, 0])],
  ])('is refused with %s', (_what, bytes) => {
    expect(() => utf8Body(bytes)).toThrow(BatonError);
  });

  it('is refused when it is long and not in UTF-8', () => {
    expect(() => utf8Body(Buffer.alloc(2 ** 20 + 2, '5\0'))).toThrow('must be in UTF-8');
  });

  it.each([[''], ['5'], ['{}']])('is short: %j', (text) => {
    expect(utf8Body(Buffer.from(text)).toString()).toBe(text);
  });
});
