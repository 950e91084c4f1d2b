import { asciiJson, rawArray, rawObject } from '@baton/text';
import type { AnswerHead } from '../answer/answer-head';
import { checkedBody } from '../body/checked-body';
import { valueError } from '../refusal/request-error';
import {
  checkCount,
  inputsOf,
  type PoolingInput,
  poolingRequest,
  PoolingPrompts,
} from './pooling-prompts';
import { type PoolingContext, type PoolingTask, resultList, tokensIn } from './pooling-task';
import type { PoolingFields } from './pooling.dto';
import { type EmbeddingSpace, embedText, similarity } from './text-embedding';
import { RerankRequest, ScoreRequest, type SideField } from './score.dto';

/** Field pairs of the two sides, in the order in which vLLM reads them. */
const SIDES = [
  ['queries', 'documents'],
  ['queries', 'items'],
  ['data_1', 'data_2'],
  ['text_1', 'text_2'],
] as const;

/** Likeness with a score of one half; the next constant is the slope there. */
const MIDDLE = 0.4;
const STEEPNESS = 8;

/** Checks a body of POST /score: 1:1, 1:N or N:N inputs. Throws `BatonError`. */
export function parseScore(body: unknown, context: PoolingContext): PoolingTask {
  const { limits } = context;
  const dto = checkedBody(ScoreRequest, body, limits);
  const { first, second, names } = sidesOf(dto);
  const rows = Math.max(first.length, second.length);
  const pairs = Array.from({ length: rows }, (_, i) => ({
    query: first.length === 1 ? first[0]! : first[i]!,
    queryPlace: placeOf(names[0], first.length, i),
    document: second[i]!,
    place: placeOf(names[1], second.length, i),
  }));
  const compared = new Comparison(dto, context, pairs);
  const render = (head: AnswerHead): string => {
    const results = compared
      .scores()
      .map((score, index) => asciiJson({ index, object: 'score', score }));
    return resultList(head, results, {
      dialect: limits.dialect,
      promptTokens: tokensIn(compared.prompts),
    });
  };
  const request = poolingRequest(dto, compared.prompts, limits);
  return { request, idPrefix: 'score', render };
}

/**
 * Checks a body of POST /rerank, whose answer has the documents most like the query first. Throws
 * `BatonError`.
 */
export function parseRerank(body: unknown, context: PoolingContext): PoolingTask {
  const dto = checkedBody(RerankRequest, body, context.limits);
  checkCount(dto.documents.length, 'documents');
  const documents = dto.documents.map((one) => (typeof one === 'string' ? one : one.text));
  const pairs = documents.map((document, i) => ({
    query: dto.query,
    queryPlace: 'query',
    document,
    place: `documents[${i}]`,
  }));
  const compared = new Comparison(dto, context, pairs);
  const render = (head: AnswerHead): string => {
    const ranked = compared
      .scores()
      .map((score, index) => ({ score, index }))
      .sort((a, b) => b.score - a.score || a.index - b.index)
      .slice(0, dto.top_n || undefined);
    const results = ranked.map(({ index, score }) =>
      asciiJson({
        index,
        document: { text: documents[index], multi_modal: null },
        relevance_score: score,
      }),
    );
    const tokens = tokensIn(compared.prompts);
    return rawObject({
      id: asciiJson(head.id),
      model: asciiJson(head.model),
      usage: asciiJson({ prompt_tokens: tokens, total_tokens: tokens }),
      results: rawArray(results),
    });
  };
  const request = poolingRequest(dto, compared.prompts, context.limits);
  return { request, idPrefix: 'score', render };
}

/** Two inputs, with the client's names of them. */
interface Pair {
  readonly query: PoolingInput;
  readonly queryPlace: string;
  readonly document: PoolingInput;
  readonly place: string;
}

/** The field of an input in errors, with its index where there are several. */
function placeOf(field: string, count: number, index: number): string {
  return count === 1 ? field : `${field}[${index}]`;
}

/** Pairs as a cross-encoder reads them: query and document in one prompt. */
class Comparison {
  readonly prompts: readonly Int32Array[];
  private readonly texts: readonly (readonly [string, string])[];
  private readonly space: EmbeddingSpace;

  constructor(dto: PoolingFields, { limits, space }: PoolingContext, pairs: readonly Pair[]) {
    const { tokenizer } = limits;
    const prompts = new PoolingPrompts(dto, limits);
    this.space = space;
    const queries = new Map<PoolingInput, Int32Array>();
    const read = pairs.map((pair) => {
      const { place, queryPlace } = pair;
      const query = queries.get(pair.query) ?? prompts.ids(pair.query, queryPlace);
      queries.set(pair.query, query);
      const document = prompts.ids(pair.document, place);
      const joined = Int32Array.from([...query, tokenizer.special.endOfText, ...document]);
      const text = [tokenizer.decode(query), tokenizer.decode(document)] as const;
      return { prompt: prompts.prompt(joined, place), text };
    });
    this.prompts = read.map(({ prompt }) => prompt);
    this.texts = read.map(({ text }) => text);
  }

  /** One score per pair, in (0, 1). */
  scores(): number[] {
    const { space } = this;
    const vectorOf = (text: string): Float32Array => embedText(text, space, space.dimensions);
    const known = new Map<string, Float32Array>();
    return this.texts.map(([query, document]) => {
      const vector = known.get(query) ?? vectorOf(query);
      known.set(query, vector);
      const likeness = similarity(vector, vectorOf(document));
      return Math.fround(1 / (1 + Math.exp(STEEPNESS * (MIDDLE - likeness))));
    });
  }
}

interface Sides {
  readonly first: readonly PoolingInput[];
  readonly second: readonly PoolingInput[];
  readonly names: readonly [string, string];
}

function sidesOf(dto: ScoreRequest): Sides {
  const named = SIDES.find(([a, b]) => isGiven(dto[a]) && isGiven(dto[b]));
  if (named === undefined) {
    const pairs = SIDES.map(([a, b]) => `'${a}' and '${b}'`).join(', ');
    throw valueError({ field: 'queries', message: `Two sides are required: one of ${pairs}.` });
  }
  const first = inputsOf(dto[named[0]], named[0]);
  const second = inputsOf(dto[named[1]], named[1]);
  if (first.length === 1 || first.length === second.length) return { first, second, names: named };
  const message = 'Input lengths must be either 1:1, 1:N or N:N';
  throw valueError({ field: named[0], message });
}

function isGiven(side: SideField | null | undefined): boolean {
  return side !== undefined && side !== null;
}
