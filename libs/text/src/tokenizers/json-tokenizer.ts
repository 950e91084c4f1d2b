import type { Tokenizer as Encoder } from '@huggingface/tokenizers';
import { reasonOf, spendWork } from '@baton/kernel';
import { SpecialTokenTable } from './special-token-table';
import { SpelledTokens } from './spelled-tokens';
import { TokenTable } from './token-table';
import { type TextStep, withoutPrefix } from './text-step';
import { spellingOf, type Spelling } from './token-spelling';
import { TokenizerError } from './tokenizer-error';
import type { Tokenizer } from './tokenizer';
import { toBytes } from './utf8-bytes';

/** The parts of a tokenizer.json that the reader uses. */
interface TokenizerFile {
  readonly model: { readonly type?: string };
  readonly added_tokens?: readonly AddedToken[] | null;
  readonly decoder?: object | null;
  readonly pre_tokenizer?: TextStep | null;
  readonly normalizer?: TextStep | null;
}

interface AddedToken {
  readonly id: number;
  readonly content: string;
  readonly special: boolean;
}

/** Names of end-of-text tokens, the most common first. */
const ENDS = [
  ...['<|endoftext|>', '<|end_of_text|>', '</s>', '<eos>', '<｜end▁of▁sentence｜>'],
  ...['<|eot_id|>', '<|im_end|>'],
];
/**
 * Maximum number of characters that one call encodes. The library's time grows faster than the
 * length of a text, so a text is cut before a space, where words begin. Only a word longer than
 * this can get one or two more tokens.
 */
const LONGEST_SLICE = 1_024;
/** Highest id of a vocabulary. A file with a higher one is refused. */
const MAX_VOCABULARY = 4_000_000;

/**
 * Reads the content of a model's tokenizer.json: byte-pair encoding on bytes (Qwen, Llama 3,
 * DeepSeek, gpt-oss …), or SentencePiece with byte fallback (Gemma, Llama 2, Mistral). Throws
 * `TokenizerError` for other kinds.
 *
 * @param name the tokenizer's name in answers
 * @param end special token that ends a text; default: the first common one in the file
 */
export async function readTokenizerJson(
  content: string,
  name: string,
  end?: string,
): Promise<Tokenizer> {
  const file = parsed(content);
  const spelling = spellingOf(file.decoder);
  if (file.model.type !== undefined && file.model.type !== 'BPE') {
    throw new TokenizerError(
      `"model.type" is ${file.model.type}, but only BPE is supported: set tokenizer to ` +
        "o200k or to another model's tokenizer.json",
    );
  }
  if (spelling === undefined) {
    throw new TokenizerError('its decoder is neither ByteLevel nor that of SentencePiece');
  }
  const { Tokenizer: EncoderClass } = await import('@huggingface/tokenizers');
  const added = file.added_tokens ?? [];
  if (end !== undefined && !added.some(({ content: token }) => token === end)) {
    throw new TokenizerError(
      `"added_tokens" lacks '${end}', which is the "eos_token" of tokenizer_config.json`,
    );
  }
  // Special tokens that occur in a text are encoded as plain text.
  const plain = {
    ...file,
    normalizer: withoutPrefix(file.normalizer),
    pre_tokenizer: withoutPrefix(file.pre_tokenizer),
    added_tokens: added.filter(({ special }) => !special),
    post_processor: null,
  };
  try {
    const encoder = new EncoderClass(plain, {});
    return new JsonTokenizer({ name, added, spelling, encoder, end });
  } catch (error) {
    throw new TokenizerError(reasonOf(error));
  }
}

function parsed(content: string): TokenizerFile {
  let file: unknown;
  try {
    file = JSON.parse(content);
  } catch {
    throw new TokenizerError('it is not JSON');
  }
  const model = (file as { readonly model?: unknown } | null)?.model;
  if (typeof model !== 'object' || model === null) {
    throw new TokenizerError('it has no "model"');
  }
  return file as TokenizerFile;
}

interface Parts {
  readonly name: string;
  readonly added: readonly AddedToken[];
  readonly spelling: Spelling;
  readonly encoder: Encoder;
  readonly end: string | undefined;
}

/**
 * End of the slice that begins at `from`: before a space in the second half of the longest slice,
 * else at that slice's end.
 */
function cutAfter(text: string, from: number): number {
  const most = from + LONGEST_SLICE;
  if (text.length <= most) return text.length;
  const space = text.lastIndexOf(' ', most);
  if (space > from + LONGEST_SLICE / 2 && text[space - 1] !== ' ') return space;
  const isPair = (text.charCodeAt(most) & 0xfc00) === 0xdc00;
  return isPair ? most - 1 : most;
}

/**
 * The vocabulary of a tokenizer.json. Hugging Face's library encodes; decoding joins the tokens'
 * own texts.
 */
class JsonTokenizer extends SpelledTokens implements Tokenizer {
  readonly name: string;
  readonly vocabSize: number;
  private readonly encoder: Encoder;

  constructor({ name, added, spelling, encoder, end }: Parts) {
    const bytesOf = bytesOfTokens({ added, spelling, encoder });
    const own = new Map(added.map(({ id, content }) => [id, content]));
    const ends = end === undefined ? ENDS : [end];
    super(TokenTable.of(bytesOf), new SpecialTokenTable(own, bytesOf.length, ends));
    this.name = name;
    this.encoder = encoder;
    this.vocabSize = bytesOf.length;
  }

  encode(text: string, limit = Infinity): number[] {
    const known: number[] = [];
    for (let from = 0; from < text.length && known.length <= limit;) {
      const to = cutAfter(text, from);
      // The library takes some 1 µs per character, ten times as long as our own encoder.
      spendWork(to - from);
      const { ids } = this.encoder.encode(text.slice(from, to), { add_special_tokens: false });
      for (const id of ids) if (this.tokens.has(id)) known.push(id);
      from = to;
    }
    if (known.length > limit) known.length = limit + 1;
    return known;
  }
}

function bytesOfTokens({ added, spelling, encoder }: Omit<Parts, 'name' | 'end'>): string[] {
  const bytesOf: string[] = [];
  const put = (id: number, bytes: string): void => {
    if (!Number.isInteger(id) || id < 0 || id >= MAX_VOCABULARY) {
      throw new TokenizerError(`${id} is not the id of a token`);
    }
    bytesOf[id] = bytes;
  };
  // The library returns undefined for special tokens that were left out.
  for (const [token, id] of encoder.get_vocab(false) as Map<string | undefined, number>) {
    if (token !== undefined) put(id, spelling(token));
  }
  for (const { id, content } of added) put(id, toBytes(content));
  if (bytesOf.length === 0) throw new TokenizerError('its vocabulary is empty');
  return bytesOf;
}
