import type { Tokenizer as Encoder } from '@huggingface/tokenizers';
import { SpecialTokenTable } from './special-token-table';
import { SpelledTokens } from './spelled-tokens';
import { TokenTable } from './token-table';
import { type TextStep, withoutPrefix } from './text-step';
import { spellingOf, type Spelling } from './token-spelling';
import { TokenizerError } from './tokenizer-error';
import type { Tokenizer } from './tokenizer';
import { toBytes } from './utf8-bytes';

/** The parts of a tokenizer.json that matter here. */
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

/** Names under which models end a text, the usual first. */
const ENDS = [
  ...['<|endoftext|>', '<|end_of_text|>', '</s>', '<eos>', '<｜end▁of▁sentence｜>'],
  ...['<|eot_id|>', '<|im_end|>'],
];
/**
 * Characters that are encoded at once. The library takes ever longer for longer words; a text is
 * cut before a space, where words begin anyway, and only an endless word can come out a token or
 * two longer.
 */
const LONGEST_SLICE = 1_024;
/** Ids beyond it are no vocabulary's: a file that has them is broken. */
const MAX_VOCABULARY = 4_000_000;

/**
 * Reads the content of a model's tokenizer.json: byte-pair encoding on bytes (Qwen, Llama 3,
 * DeepSeek, gpt-oss …) or in the manner of SentencePiece with byte fallback (Gemma, Llama 2,
 * Mistral). Throws `TokenizerError` for others.
 *
 * @param name how it is called in answers
 * @param end special token that ends a text; default: the first usual one that the file has
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
      `"model.type" is ${file.model.type}, which is not supported, only BPE: set tokenizer to ` +
        "o200k or to another model's tokenizer.json",
    );
  }
  if (spelling === undefined) {
    throw new TokenizerError('its decoder is neither ByteLevel nor the one of SentencePiece');
  }
  const { Tokenizer: EncoderClass } = await import('@huggingface/tokenizers');
  const added = file.added_tokens ?? [];
  if (end !== undefined && !added.some(({ content: token }) => token === end)) {
    throw new TokenizerError(
      `"added_tokens" lacks '${end}', which is the "eos_token" of tokenizer_config.json`,
    );
  }
  // Text may contain what looks like a special token; it is text all the same.
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
    throw new TokenizerError(error instanceof Error ? error.message : String(error));
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
 * Where the slice that begins at `from` ends: before a space, where there is one in the second half
 * of the longest slice.
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
 * The vocabulary of a tokenizer.json. It encodes with Hugging Face's library, and spells each token
 * by itself.
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
      throw new TokenizerError(`${id} is no id of a token`);
    }
    bytesOf[id] = bytes;
  };
  // The library has a hole where a special token was left out.
  for (const [token, id] of encoder.get_vocab(false) as Map<string | undefined, number>) {
    if (token !== undefined) put(id, spelling(token));
  }
  for (const { id, content } of added) put(id, toBytes(content));
  if (bytesOf.length === 0) throw new TokenizerError('its vocabulary is empty');
  return bytesOf;
}
