import { CreateResponse, wantsStream } from '@baton/responses';
import { asciiJson } from '@baton/text';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Owned, OwnedId } from '../../http/access/tenant';
import { Describe, PAGING, STREAMED, type QueryParameter } from '../../http/operation';
import { ServedByEngines } from '../../request/served-by-engines';
import { EngineBodyPipe } from '../../request/engine-body.pipe';
import { ResponsesService } from './responses.service';
import { ResponseUpgrades } from './socket/response-upgrades';

const JSON_TYPE = 'application/json';
const REPLAY: readonly QueryParameter[] = [
  { name: 'stream', type: 'boolean', meaning: 'Send the events of the stream again.' },
  {
    name: 'starting_after',
    type: 'integer',
    meaning: 'Number of the last event that the client has.',
  },
];

type Parameters = Readonly<Record<string, unknown>>;

/**
 * OpenAI's Responses API: requests consist of items instead of messages, and responses are stored.
 */
@Controller('v1/responses')
export class ResponsesController {
  constructor(
    private readonly responses: ResponsesService,
    private readonly upgrades: ResponseUpgrades,
  ) {}

  @Describe('Responses', 'Create a response', {
    body: 'ResponseRequest',
    result: 'Response',
    ...STREAMED,
  })
  @Post()
  @ServedByEngines()
  create(
    @Body(EngineBodyPipe) body: CreateResponse,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.responses.create({ body, request, reply });
  }

  /** Serves clients that request a WebSocket. */
  @Describe('Responses', 'Create responses over a WebSocket', { upgrades: true })
  @Get()
  connect(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.upgrades.accept(request, reply);
  }

  @Describe('Responses', 'Count the tokens of an input', {
    body: 'ResponseRequest',
    result: 'InputTokens',
  })
  @Post('input_tokens')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  async inputTokens(
    @Body(EngineBodyPipe) body: CreateResponse,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    return this.responses.countTokens({ body, request, reply });
  }

  @Describe('Responses', 'Shorten a conversation to items that the next request continues', {
    body: 'ResponseRequest',
    requires: ['model'],
    result: 'CompactedResponse',
    example: { model: 'llama-3.1-8b', input: 'Why does a relay need a baton?' },
  })
  @Post('compact')
  @ServedByEngines()
  compact(
    @Body(EngineBodyPipe) body: CreateResponse,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.responses.compact({ body, request, reply });
  }

  @Describe('Responses', 'Read a stored response', {
    query: REPLAY,
    result: 'Response',
    ...STREAMED,
  })
  @Get(':id')
  async retrieve(
    @OwnedId() at: Owned,
    @Query() query: Parameters,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    if (wantsStream(query)) {
      await this.responses.replay(at, query, reply);
    } else {
      void reply.type(JSON_TYPE).send(await this.responses.show(at, { kind: 'object' }));
    }
  }

  @Describe('Responses', 'Delete a stored response', { result: 'Deleted' })
  @Delete(':id')
  @Header('content-type', JSON_TYPE)
  async remove(@OwnedId() at: Owned): Promise<string> {
    await this.responses.remove(at);
    return asciiJson({ id: at.id, object: 'response', deleted: true });
  }

  @Describe('Responses', 'List the input items of a response', { query: PAGING, result: 'List' })
  @Get(':id/input_items')
  @Header('content-type', JSON_TYPE)
  inputItems(@OwnedId() at: Owned, @Query() query: Parameters): Promise<string> {
    return this.responses.show(at, { kind: 'input', query });
  }

  @Describe('Responses', 'Cancel a response that runs in the background', { result: 'Response' })
  @Post(':id/cancel')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  cancel(@OwnedId() at: Owned): Promise<string> {
    return this.responses.cancel(at);
  }
}
