/** A small tokenizer.json, trained in the test, so that tests need no file of a model. */

const CORPUS = (
  'the a this every green quiet early small river city window table engine system reader ' +
  'question answer keeps shows finds takes gives moves with from under over slowly often again ' +
  'and ' +
  'but while The A This Every'
).split(' ');
const VOCABULARY = 900;

/** GPT-2's visible character of every byte. */
const ALPHABET = Array.from({ length: 256 }, (_, byte) => byte);
let further = 0x100;
const CHARACTERS = ALPHABET.map((byte) => {
  const isVisible =
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
  return String.fromCodePoint(isVisible ? byte : further++);
});

export type TinyKind = 'byte-level' | 'sentencepiece';

/**
 * The file's content. The markers of Llama 3 are among its special tokens; those of other models
 * are not.
 */
export function tinyTokenizerJson(kind: TinyKind = 'byte-level'): string {
  const isBytes = kind === 'byte-level';
  const space = isBytes ? CHARACTERS[0x20]! : '\u2581';
  const start = isBytes
    ? CHARACTERS
    : [
        ...ALPHABET.map((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`),
        ...new Set([...CORPUS.join(''), space, '.', ',', '\n']),
      ];
  const words = [...CORPUS, ...CORPUS.map((word) => space + word), `.${CHARACTERS[10]!.repeat(2)}`];
  const { vocabulary, merges } = train(start, words);
  const added = ['<|begin_of_text|>', '<|eot_id|>', '<|end_of_text|>', '<extra>'];
  return JSON.stringify({
    version: '1.0',
    added_tokens: added.map((content, i) => ({
      id: vocabulary.length + i,
      content,
      special: content !== '<extra>',
      single_word: false,
      lstrip: false,
      rstrip: false,
      normalized: false,
    })),
    normalizer: isBytes ? null : { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
    pre_tokenizer: isBytes
      ? { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
      : null,
    post_processor: null,
    decoder: isBytes
      ? { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true }
      : {
          type: 'Sequence',
          decoders: [
            { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' },
            { type: 'ByteFallback' },
            { type: 'Fuse' },
          ],
        },
    model: {
      type: 'BPE',
      dropout: null,
      unk_token: null,
      fuse_unk: false,
      byte_fallback: !isBytes,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
      merges,
    },
  });
}

/** Merges the most frequent pair until each word is one token. */
function train(
  start: readonly string[],
  words: readonly string[],
): { vocabulary: string[]; merges: [string, string][] } {
  const vocabulary = [...start];
  const merges: [string, string][] = [];
  let split = words.map((word) => [...word]);
  while (vocabulary.length < VOCABULARY) {
    const counts = new Map<string, number>();
    for (const parts of split) {
      for (let i = 0; i + 1 < parts.length; i++) {
        const pair = `${parts[i]!}\t${parts[i + 1]!}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const [best] = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
    if (best === undefined) break;
    const [left = '', right = ''] = best[0].split('\t');
    merges.push([left, right]);
    if (!vocabulary.includes(left + right)) vocabulary.push(left + right);
    split = split.map((parts) => merged(parts, left, right));
  }
  return { vocabulary, merges };
}

function merged(parts: readonly string[], left: string, right: string): string[] {
  const result: string[] = [];
  for (let i = 0; i < parts.length; i++) {
    const isPair = parts[i] === left && parts[i + 1] === right;
    result.push(isPair ? left + right : parts[i]!);
    if (isPair) i += 1;
  }
  return result;
}
