import { toBytes } from './utf8-bytes';

/** The bytes of a token of the vocabulary, one character per byte. */
export type Spelling = (token: string) => string;

/** How the decoder of a tokenizer.json reads tokens. Undefined: the decoder is not supported. */
export function spellingOf(decoder: object | null | undefined): Spelling | undefined {
  const kinds = kindsOf(decoder);
  if (kinds.includes('ByteLevel')) return byteLevel;
  if (kinds.includes('ByteFallback') || kinds.includes('Metaspace')) return sentencePiece;
  return undefined;
}

interface DecoderNode {
  readonly type?: string;
  readonly decoders?: readonly DecoderNode[];
}

function kindsOf(decoder: DecoderNode | null | undefined): string[] {
  if (decoder === null || decoder === undefined) return [];
  const inner = decoder.decoders?.flatMap(kindsOf) ?? [];
  return decoder.type === undefined ? inner : [decoder.type, ...inner];
}

/**
 * GPT-2's alphabet: every byte has a visible character. Bytes that are not visible have the
 * characters from U+0100.
 */
const BYTE_OF = new Map<string, string>();
for (let byte = 0, further = 0x100; byte < 0x100; byte++) {
  const isVisible =
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  BYTE_OF.set(String.fromCodePoint(isVisible ? byte : further++), String.fromCharCode(byte));
}

function byteLevel(token: string): string {
  let bytes = '';
  for (const character of token) bytes += BYTE_OF.get(character) ?? toBytes(character);
  return bytes;
}

const ONE_BYTE = /^<0x([0-9A-Fa-f]{2})>$/;

function sentencePiece(token: string): string {
  const byte = ONE_BYTE.exec(token)?.[1];
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  return toBytes(token.replaceAll('\u2581', ' '));
}
