import { mix, spendWork } from '@baton/kernel';
import {
  asciiJson,
  type OutputPlan,
  rawArray,
  rawEntries,
  type RawJson,
  rawObject,
  type Tokenizer,
  type TokenLogprob,
  tokenLogprobs,
} from '@baton/text';
import type { ReportedTokens } from './reported-tokens';

/** Work of one log-probability, in units of `spendWork`: it takes 65 bytes of JSON. */
const ENTRY_WORK = 4;

/** A token with its likelihood, where that is known. */
export interface ScoredToken {
  readonly id: number;
  /**
   * The token and its rivals in falling order. Undefined for the first token of a prompt, which has
   * no predecessor.
   */
  readonly list: readonly TokenLogprob[] | undefined;
}

/** The reported part of tokens `[from, to)` of a sequence. */
export interface OutputSpan {
  readonly plan: OutputPlan;
  readonly from: number;
  readonly to: number;
  readonly reported: ReportedTokens;
}

/**
 * Writes log-probabilities for one request, with `top` entries per token, including the token
 * itself.
 */
export class LogprobsWriter {
  constructor(
    private readonly tokenizer: Tokenizer,
    private readonly top: number,
    private readonly tokensAsIds: boolean,
  ) {}

  ofOutput({ plan, from, to, reported }: OutputSpan): ScoredToken[] {
    const tokens: ScoredToken[] = [];
    for (let index = from; index < to; index++) {
      if (!reported.hasLogprob(index)) continue;
      const id = plan.tokenIds[index]!;
      tokens.push({ id, list: this.score({ hash: plan.hash, index, id }) });
    }
    return tokens;
  }

  ofPrompt(ids: ArrayLike<number>): ScoredToken[] {
    return this.scores(ids, (token) => token);
  }

  /** `choices[].logprobs` of a chat answer. */
  chat(tokens: readonly ScoredToken[]): RawJson {
    return rawObject({ content: rawArray(this.chatEntries(tokens)) });
  }

  /** The entries of a chat answer, one per token. */
  chatEntries(tokens: readonly ScoredToken[]): RawJson[] {
    return tokens.map(({ id, list = [] }) =>
      rawObject({
        ...this.entry({ id, logprob: list[0]?.logprob ?? 0 }),
        top_logprobs: rawArray(
          list.slice(0, this.top).map((rival) => rawObject(this.entry(rival))),
        ),
      }),
    );
  }

  /** Like `chat`, with the key `refusal` that only OpenAI has. */
  openaiChat(tokens: readonly ScoredToken[]): RawJson {
    return `${this.chat(tokens).slice(0, -1)},"refusal":null}`;
  }

  /** `choices[].logprobs` of a completion; offsets count from the start of the choice's text. */
  completion(tokens: readonly ScoredToken[], startOffset: number): RawJson {
    const texts = tokens.map(({ id }) => this.text(id));
    let offset = startOffset;
    const offsets = texts.map((text) => (offset += text.length) - text.length);
    const tops = tokens.map(({ list }) =>
      list === undefined
        ? 'null'
        : rawEntries(
            list
              .slice(0, Math.max(1, this.top))
              .map(({ id, logprob }) => [this.text(id), String(logprob)]),
          ),
    );
    return rawObject({
      text_offset: rawArray(offsets.map(String)),
      token_logprobs: rawArray(tokens.map(({ list }) => String(list?.[0]?.logprob ?? null))),
      tokens: rawArray(texts.map((text) => asciiJson(text))),
      top_logprobs: rawArray(tops),
    });
  }

  /** vLLM's `prompt_logprobs`: by token id. Each place is written before the next is scored. */
  prompt(ids: ArrayLike<number>): RawJson {
    return rawArray(this.scores(ids, ({ list }) => this.promptPlace(list)));
  }

  /** `join` copies the parts into one flat text, which takes a tenth of their memory. */
  private promptPlace(list: ScoredToken['list']): RawJson {
    if (list === undefined) return 'null';
    const entries = list.slice(0, Math.max(1, this.top)).map(({ id, logprob }, rank) => {
      const decoded = asciiJson(this.tokenizer.tokenText(id));
      return `"${id}":{"logprob":${logprob},"rank":${rank + 1},"decoded_token":${decoded}}`;
    });
    return `{${entries.join(',')}}`;
  }

  /** What `use` makes of each token of a prompt, in order. */
  private scores<Result>(ids: ArrayLike<number>, use: (token: ScoredToken) => Result): Result[] {
    let hash = 0;
    return Array.from(ids, (id, index) => {
      const list = index === 0 ? undefined : this.score({ hash, index, id });
      hash = mix(hash, id);
      return use({ id, list });
    });
  }

  private score(place: Parameters<typeof tokenLogprobs>[1]): TokenLogprob[] {
    spendWork(ENTRY_WORK * Math.max(1, this.top));
    return tokenLogprobs(this.tokenizer, place, Math.max(0, this.top - 1));
  }

  private entry({ id, logprob }: TokenLogprob): Record<string, RawJson> {
    const bytes = this.tokensAsIds
      ? [...Buffer.from(this.text(id))]
      : this.tokenizer.tokenBytes(id);
    return {
      token: asciiJson(this.text(id)),
      logprob: String(logprob),
      bytes: rawArray(bytes.map(String)),
    };
  }

  private text(id: number): string {
    return this.tokensAsIds ? `token_id:${id}` : this.tokenizer.tokenText(id);
  }
}
