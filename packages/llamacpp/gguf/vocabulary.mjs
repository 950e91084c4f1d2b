// A vocabulary for random weights, in SentencePiece's form: any text tokenises, and decodes to
// itself.

/** llama.cpp's kinds of tokens. */
const KIND = { normal: 1, unknown: 2, control: 3, byte: 6 };
/** Control tokens and bytes, which come first. */
export const TOKENS_WITHOUT_TEXT = 3 + 256;
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const SPACE = '\u2581';

/**
 * Control tokens, the 256 bytes, printable ASCII, pairs of letters, and words of four letters made
 * of two pairs. A piece is reached by merging pieces that are there, so longer ones have the better
 * score.
 *
 * @param size  at least 1,200
 */
export function vocabulary(size) {
  const pieces = [
    ['<unk>', 0, KIND.unknown],
    ['<s>', 0, KIND.control],
    ['</s>', 0, KIND.control],
    ...Array.from({ length: 256 }, (_none, byte) => [byteName(byte), 0, KIND.byte]),
    ...printable().map((character) => [character, -3, KIND.normal]),
    [SPACE, -3, KIND.normal],
  ];
  const pairs = [...LETTERS].flatMap((first) => [...LETTERS].map((second) => first + second));
  pieces.push(...pairs.map((pair) => [pair, -2, KIND.normal]));
  pieces.push(...[...LETTERS].map((letter) => [SPACE + letter, -2, KIND.normal]));
  for (let i = 0; pieces.length < size; i += 1) pieces.push([word(pairs, i), -1, KIND.normal]);
  return {
    tokens: pieces.map(([text]) => text),
    scores: pieces.map(([, score]) => score),
    kinds: pieces.map(([, , kind]) => kind),
    unknown: 0,
    begin: 1,
    end: 2,
  };
}

/**
 * The `i`th word: the strides have no factor in common with 676, so no two are equal below 676 x
 * 676.
 */
function word(pairs, i) {
  const first = pairs[(i * 131) % pairs.length];
  const second = pairs[(i * 37 + Math.floor(i / pairs.length)) % pairs.length];
  return first + second;
}

function printable() {
  return Array.from({ length: 94 }, (_none, i) => String.fromCharCode(33 + i));
}

function byteName(byte) {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`;
}
