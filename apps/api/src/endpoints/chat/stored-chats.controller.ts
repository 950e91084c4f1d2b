import { ConversationRequest } from '@baton/responses';
import { asciiJson } from '@baton/text';
import { Body, Controller, Delete, Get, Header, HttpCode, Post, Query } from '@nestjs/common';
import { ByTenant, type Owned, OwnedId } from '../../http/access/tenant';
import type { Tenant } from '../../http/request-context';
import { BodyPipe } from '../../http/body.pipe';
import { Describe, PAGING, type QueryParameter } from '../../http/operation';
import { StoredChatsService } from './stored-chats.service';

const JSON_TYPE = 'application/json';
const LISTING: readonly QueryParameter[] = [
  ...PAGING,
  { name: 'model', type: 'string', meaning: 'Only chats of this model.' },
];

type Parameters = Readonly<Record<string, unknown>>;

/** OpenAI's stored chat completions: those made with `store`. */
@Controller('v1/chat/completions')
export class StoredChatsController {
  constructor(private readonly chats: StoredChatsService) {}

  @Describe('Text', 'List stored chat completions', { query: LISTING, result: 'List' })
  @Get()
  @Header('content-type', JSON_TYPE)
  list(@ByTenant() owner: Tenant, @Query() query: Parameters): Promise<string> {
    return this.chats.list(owner, query);
  }

  @Describe('Text', 'Read a stored chat completion', { result: 'ChatCompletion' })
  @Get(':id')
  @Header('content-type', JSON_TYPE)
  retrieve(@OwnedId() at: Owned): Promise<string> {
    return this.chats.find(at);
  }

  @Describe('Text', 'Change the metadata of a stored chat completion', {
    body: 'Object',
    example: { metadata: { topic: 'relay' } },
    result: 'ChatCompletion',
  })
  @Post(':id')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  update(@OwnedId() at: Owned, @Body(BodyPipe) body: ConversationRequest): Promise<string> {
    return this.chats.update(at, body);
  }

  @Describe('Text', 'Delete a stored chat completion', { result: 'Deleted' })
  @Delete(':id')
  @Header('content-type', JSON_TYPE)
  async remove(@OwnedId() at: Owned): Promise<string> {
    await this.chats.remove(at);
    return asciiJson({ id: at.id, object: 'chat.completion.deleted', deleted: true });
  }

  @Describe('Text', 'List the messages of a stored chat completion', {
    query: PAGING,
    result: 'List',
  })
  @Get(':id/messages')
  @Header('content-type', JSON_TYPE)
  messages(@OwnedId() at: Owned, @Query() query: Parameters): Promise<string> {
    return this.chats.messages(at, query);
  }
}
