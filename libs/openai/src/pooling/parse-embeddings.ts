import { asciiJson, type RawJson, rawObject } from '@baton/text';
import type { AnswerHead } from '../answer/answer-head';
import { chatPromptIds, hasMessages } from '../request/chat-prompt';
import { checkedBody } from '../body/checked-body';
import { valueError } from '../refusal/request-error';
import { EmbeddingRequest, PoolingRequest, VectorRequest } from './pooling.dto';
import { inputsOf, poolingRequest, PoolingPrompts } from './pooling-prompts';
import { type PoolingContext, type PoolingTask, resultList, tokensIn } from './pooling-task';
import { embedText } from './text-embedding';

type Fields = Readonly<Record<string, unknown>>;

const LABELS = 2;
/** Factor on likenesses before the softmax that makes probabilities of them. */
const SHARPNESS = 8;

/** Checks a body of POST /v1/embeddings. Throws `BatonError` with the first error. */
export function parseEmbeddings(body: unknown, context: PoolingContext): PoolingTask {
  const dto = checkedBody(EmbeddingRequest, body, context.limits);
  return vectorTask(dto, context, { idPrefix: 'embd', object: 'embedding', key: 'embedding' });
}

/**
 * Checks a body of POST /pooling, which gives the same vectors under another name. Throws
 * `BatonError`.
 */
export function parsePooling(body: unknown, context: PoolingContext): PoolingTask {
  const dto = checkedBody(VectorRequest, body, context.limits);
  return vectorTask(dto, context, { idPrefix: 'pooling', object: 'pooling', key: 'data' });
}

/** Checks a body of POST /classify. Throws `BatonError`. */
export function parseClassify(body: unknown, context: PoolingContext): PoolingTask {
  const { limits } = context;
  const dto = checkedBody(PoolingRequest, body, limits);
  const prompts = promptsOf(dto, context);
  const render = (head: AnswerHead): string => {
    const results = prompts.map((ids, index) => classification(ids, index, context));
    return resultList(head, results, {
      dialect: limits.dialect,
      promptTokens: tokensIn(prompts),
    });
  };
  return { request: poolingRequest(dto, prompts, limits), idPrefix: 'classify', render };
}

interface VectorShape {
  readonly idPrefix: 'embd' | 'pooling';
  readonly object: string;
  /** Key of the vector in the result. */
  readonly key: string;
}

function vectorTask(
  dto: VectorRequest & Fields,
  context: PoolingContext,
  shape: VectorShape,
): PoolingTask {
  const { limits, space } = context;
  const dimensions = dimensionsOf(dto, context);
  const prompts = promptsOf(dto, context);
  const isBase64 = dto.encoding_format === 'base64';
  const vectorOf = (ids: Int32Array): RawJson => {
    const vector = embedText(limits.tokenizer.decode(ids), space, dimensions);
    return asciiJson(isBase64 ? base64Of(vector) : Array.from(vector));
  };
  const render = (head: AnswerHead): string => {
    const results = prompts.map((ids, index) =>
      rawObject({
        index: String(index),
        object: asciiJson(shape.object),
        [shape.key]: vectorOf(ids),
      }),
    );
    return resultList(head, results, {
      dialect: limits.dialect,
      promptTokens: tokensIn(prompts),
    });
  };
  return { request: poolingRequest(dto, prompts, limits), idPrefix: shape.idPrefix, render };
}

/** One prompt per input; a conversation is one prompt. */
function promptsOf(dto: PoolingRequest & Fields, { limits }: PoolingContext): Int32Array[] {
  const prompts = new PoolingPrompts(dto, limits);
  if (hasMessages(dto))
    return [prompts.prompt(chatPromptIds({ ...dto }, limits, false), 'messages')];
  const inputs = inputsOf(dto.input, 'input');
  return inputs.map((input, i) =>
    prompts.prompt(input, inputs.length === 1 ? 'input' : `input[${i}]`),
  );
}

function dimensionsOf({ dimensions }: VectorRequest, { space }: PoolingContext): number {
  if (dimensions === undefined || dimensions === null) return space.dimensions;
  if (dimensions >= 1 && dimensions <= space.dimensions) return dimensions;
  const message = `dimensions must be from 1 to ${space.dimensions}, got ${dimensions}.`;
  throw valueError({ field: 'dimensions', message, named: true });
}

/** The vector as base64 of little-endian float32, on every machine. */
function base64Of(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * Float32Array.BYTES_PER_ELEMENT);
  vector.forEach((value, i) => bytes.writeFloatLE(value, i * Float32Array.BYTES_PER_ELEMENT));
  return bytes.toString('base64');
}

/** Probabilities of two classes, the default of a sequence classifier on the Hugging Face Hub. */
function classification(
  ids: Int32Array,
  index: number,
  { limits, space }: PoolingContext,
): RawJson {
  const [first = 0, second = 0] = embedText(limits.tokenizer.decode(ids), space, LABELS);
  const chance = 1 / (1 + Math.exp(SHARPNESS * (first - second)));
  const probs = [Math.fround(1 - chance), Math.fround(chance)];
  return asciiJson({
    index,
    label: `LABEL_${chance > 0.5 ? 1 : 0}`,
    probs,
    num_classes: LABELS,
  });
}
