import {
  answerId,
  ChatCompletionRequest,
  CompletionRequest,
  DerenderChatRequest,
  DerenderCompletionRequest,
} from '@baton/openai';
import { Body, Controller, Header, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ModelCatalog } from '../../cluster/model-catalog';
import { tenantOf } from '../../http/access/tenant';
import { Describe } from '../../http/operation';
import { contextOf } from '../../http/request-context';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import type { AnswerExtra, BodyAnswer } from '../../request/threads/body-answers';
import { RequestThreads } from '../../request/threads/request-threads';

const JSON_TYPE = 'application/json';

type Written = Promise<string | Uint8Array>;

/**
 * The two ends of a request without its generation: a request into token ids, and token ids into an
 * answer. No engine takes part.
 */
@Controller('v1')
export class RenderController {
  constructor(
    private readonly catalog: ModelCatalog,
    private readonly threads: RequestThreads,
  ) {}

  @Describe('Text', 'Turn a conversation into tokens, without an answer', {
    body: 'ChatCompletionRequest',
    result: 'Rendered',
  })
  @Post('chat/completions/render')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  renderChat(
    @Body(EngineBodyPipe) body: ChatCompletionRequest,
    @Req() request: FastifyRequest,
  ): Written {
    return this.written('render-chat', { body, request }, answerId('chat', idOf(request)));
  }

  @Describe('Text', 'Turn prompts into tokens, without an answer', {
    body: 'CompletionRequest',
    result: 'RenderedList',
  })
  @Post('completions/render')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  renderCompletion(
    @Body(EngineBodyPipe) body: CompletionRequest,
    @Req() request: FastifyRequest,
  ): Written {
    return this.written(
      'render-completion',
      { body, request },
      answerId('completions', idOf(request)),
    );
  }

  @Describe('Text', 'Turn generated tokens into a chat answer', {
    body: 'DerenderChatRequest',
    result: 'ChatCompletion',
  })
  @Post('chat/completions/derender')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  derenderChat(
    @Body(EngineBodyPipe) body: DerenderChatRequest,
    @Req() request: FastifyRequest,
  ): Written {
    return this.written(
      'derender-chat',
      { body, request },
      this.head(answerId('chat', idOf(request))),
    );
  }

  @Describe('Text', 'Turn generated tokens into a completion', {
    body: 'DerenderCompletionRequest',
    result: 'Completion',
  })
  @Post('completions/derender')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  derenderCompletion(
    @Body(EngineBodyPipe) body: DerenderCompletionRequest,
    @Req() request: FastifyRequest,
  ): Written {
    const head = this.head(answerId('completions', idOf(request)));
    return this.written('derender-completion', { body, request }, head);
  }

  private written<Name extends BodyAnswer>(
    name: Name,
    { body, request }: { readonly body: unknown; readonly request: FastifyRequest },
    extra: AnswerExtra<Name>,
  ): Written {
    const limits = this.catalog.limitsOf(tenantOf(request));
    return this.threads.answer(name, { body, limits, extra });
  }

  private head(id: string): { id: string; created: number; systemFingerprint: string } {
    const { systemFingerprint } = this.catalog;
    return { id, created: Math.floor(Date.now() / 1_000), systemFingerprint };
  }
}

function idOf(request: FastifyRequest): string {
  return contextOf(request.raw).requestId;
}
