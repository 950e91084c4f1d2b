import type { BatonConfig } from '@baton/config';
import {
  parseClassify,
  parseEmbeddings,
  parsePooling,
  parseRerank,
  parseScore,
  type PoolingContext,
  type PoolingTask,
} from '@baton/openai';
import { WholeAnswer } from '../../request/answer/whole';
import type { EndpointReader, Reading } from '../../request/take/call';

type ParseTask = (body: unknown, context: PoolingContext) => PoolingTask;

const TASKS = {
  embeddings: parseEmbeddings,
  pooling: parsePooling,
  classify: parseClassify,
  score: parseScore,
  rerank: parseRerank,
} as const satisfies Record<string, ParseTask>;

export type PoolingName = keyof typeof TASKS;

/** `local` computes the answer of the task, which is a function of the prompts. */
interface PoolingReading extends Reading {
  readonly idPrefix: string;
  readonly local: PoolingTask;
}

/** The readers of requests to a pooling model. */
export function poolingReaders(config: BatonConfig): Readonly<Record<PoolingName, EndpointReader>> {
  const readers = Object.entries(TASKS).map(([name, parse]) => [
    name,
    poolingReader(name, parse, config),
  ]);
  return Object.fromEntries(readers) as Record<PoolingName, EndpointReader>;
}

function poolingReader(
  name: string,
  parse: ParseTask,
  config: BatonConfig,
): EndpointReader<PoolingReading> {
  const { embeddingDimensions: dimensions, seed } = config;
  return {
    name,
    read: (body, limits) => {
      const task = parse(body, { limits, space: { seed, dimensions } });
      return { request: task.request, idPrefix: task.idPrefix, local: task };
    },
    check: ({ request, idPrefix, local }) => ({
      request,
      answerId: (requestId) => `${idPrefix}-${requestId}`,
      isPooling: true,
      answer: ({ http, plans, head }) => new WholeAnswer(http, plans, () => local.render(head)),
    }),
  };
}
