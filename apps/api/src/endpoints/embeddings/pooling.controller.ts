import {
  EmbeddingRequest,
  PoolingRequest,
  RerankRequest,
  ScoreRequest,
  VectorRequest,
} from '@baton/openai';
import { Body, Controller, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Describe } from '../../http/operation';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { type EndpointReader, makeCall, type Received } from '../../request/take/call';
import { ServedByEngines } from '../../request/served-by-engines';
import { RequestWay } from '../../request/way';
import { Config } from '../../tokens';
import { type PoolingName, poolingReaders } from './pooling-readers';

/**
 * Endpoints of pooling models. The cluster computes the prompts; the answer is a function of their
 * tokens.
 */
@Controller()
@ServedByEngines()
export class PoolingController {
  private readonly readers: Readonly<Record<PoolingName, EndpointReader>>;

  constructor(
    config: Config,
    private readonly generation: RequestWay,
  ) {
    this.readers = poolingReaders(config);
  }

  @Describe('Embeddings and scores', 'Turn texts into vectors', {
    body: 'EmbeddingRequest',
    result: 'EmbeddingList',
  })
  @Post('v1/embeddings')
  embeddings(
    @Body(EngineBodyPipe) body: EmbeddingRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('embeddings', { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Turn texts into vectors, in the shape of vLLM', {
    body: 'PoolingRequest',
    result: 'PooledList',
  })
  @Post('pooling')
  pooling(
    @Body(EngineBodyPipe) body: VectorRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('pooling', { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Classify texts', {
    body: 'PoolingRequest',
    result: 'PooledList',
  })
  @Post('classify')
  classify(
    @Body(EngineBodyPipe) body: PoolingRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('classify', { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Score pairs of texts', {
    body: 'ScoreRequest',
    result: 'PooledList',
  })
  @Post(['score', 'v1/score'])
  score(
    @Body(EngineBodyPipe) body: ScoreRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('score', { body, request, reply });
  }

  @Describe('Embeddings and scores', 'Order documents by a query', {
    body: 'RerankRequest',
    result: 'RankedDocuments',
  })
  @Post(['rerank', 'v1/rerank', 'v2/rerank'])
  rerank(
    @Body(EngineBodyPipe) body: RerankRequest,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.answer('rerank', { body, request, reply });
  }

  private answer(task: PoolingName, received: Received): Promise<void> {
    return this.generation.answer(makeCall(this.readers[task], received));
  }
}
