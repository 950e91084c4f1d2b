import type { BatonConfig } from '@baton/config';
import {
  parseClassify,
  parseEmbeddings,
  parsePooling,
  parseRerank,
  parseScore,
  type PoolingContext,
  type PoolingTask,
} from '@baton/pooling';
import { Body, Controller, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe } from '../../http/operation';
import { WholeAnswer } from '../../request/answer/whole';
import { type Ask, callOf, type Received } from '../../request/take/call';
import { RequestWay } from '../../request/way';
import { CONFIG } from '../../tokens';

type ParseTask = (body: unknown, context: PoolingContext) => PoolingTask;

/**
 * Endpoints of pooling models: prompts are computed by the cluster, then the answer is a function
 * of their tokens.
 */
@Controller()
export class PoolingController {
  constructor(
    @Inject(CONFIG) private readonly config: BatonConfig,
    private readonly generation: RequestWay,
  ) {}

  @Describe('Embeddings and scores', 'Turn texts into vectors', {
    ...{ body: 'EmbeddingRequest', result: 'EmbeddingList' },
  })
  @Post('v1/embeddings')
  embeddings(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer(parseEmbeddings, { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Vectors of texts, one per token or text', {
    body: 'PoolingRequest',
  })
  @Post('pooling')
  pooling(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer(parsePooling, { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Put texts into classes', { body: 'PoolingRequest' })
  @Post('classify')
  classify(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer(parseClassify, { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Score pairs of texts', { body: 'ScoreRequest' })
  @Post(['score', 'v1/score'])
  score(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer(parseScore, { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Order documents by a query', { body: 'RerankRequest' })
  @Post(['rerank', 'v1/rerank', 'v2/rerank'])
  rerank(
    @Body() body: unknown,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer(parseRerank, { body, request, reply });
  }

  private answer(parse: ParseTask, received: Received): Promise<void> {
    const { embeddingDimensions: dimensions, seed } = this.config;
    const ask: Ask = (body, limits) => {
      const task = parse(body, { limits, space: { seed, dimensions } });
      return {
        request: task.request,
        answerId: (requestId) => `${task.idPrefix}-${requestId}`,
        isPooling: true,
        answer: ({ http, plans, head }) => new WholeAnswer(http, plans, () => task.render(head)),
      };
    };
    return this.generation.answer(callOf(ask, received));
  }
}
