import { ConversationRequest } from '@baton/responses';
import { asciiJson } from '@baton/text';
import {
  Body,
  Controller,
  DefaultValuePipe,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { ByTenant, type Owned, OwnedId } from '../../http/access/tenant';
import { BodyPipe } from '../../http/body.pipe';
import { Describe, PAGING } from '../../http/operation';
import type { Tenant } from '../../http/request-context';
import { ConversationsService } from './conversations.service';

const JSON_TYPE = 'application/json';

type Parameters = Readonly<Record<string, unknown>>;

/** OpenAI's conversations: lists of items that responses continue and extend. */
@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  @Describe('Conversations', 'Create a conversation', {
    body: 'ConversationRequest',
    result: 'Conversation',
  })
  @Post()
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  async create(
    @ByTenant() owner: Tenant,
    @Body(new DefaultValuePipe({}), BodyPipe) body: ConversationRequest,
  ): Promise<string> {
    return asciiJson(await this.conversations.create(owner, body));
  }

  @Describe('Conversations', 'Read a conversation', { result: 'Conversation' })
  @Get(':id')
  @Header('content-type', JSON_TYPE)
  async retrieve(@OwnedId() at: Owned): Promise<string> {
    return asciiJson(await this.conversations.retrieve(at));
  }

  @Describe('Conversations', 'Change the metadata of a conversation', {
    body: 'ConversationRequest',
    result: 'Conversation',
    example: { metadata: { topic: 'relay' } },
  })
  @Post(':id')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  async update(@OwnedId() at: Owned, @Body(BodyPipe) body: ConversationRequest): Promise<string> {
    return asciiJson(await this.conversations.update(at, body));
  }

  @Describe('Conversations', 'Delete a conversation', { result: 'Deleted' })
  @Delete(':id')
  @Header('content-type', JSON_TYPE)
  async remove(@OwnedId() at: Owned): Promise<string> {
    await this.conversations.remove(at);
    return asciiJson({ id: at.id, object: 'conversation.deleted', deleted: true });
  }

  @Describe('Conversations', 'Add items to a conversation', {
    body: 'ConversationRequest',
    result: 'List',
    example: { items: [{ type: 'message', role: 'user', content: 'Hello' }] },
  })
  @Post(':id/items')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  addItems(@OwnedId() at: Owned, @Body(BodyPipe) body: ConversationRequest): Promise<string> {
    return this.conversations.addItems(at, body);
  }

  @Describe('Conversations', 'List the items of a conversation', { query: PAGING, result: 'List' })
  @Get(':id/items')
  @Header('content-type', JSON_TYPE)
  listItems(@OwnedId() at: Owned, @Query() query: Parameters): Promise<string> {
    return this.conversations.listItems(at, query);
  }

  @Describe('Conversations', 'Read an item of a conversation', { result: 'ConversationItem' })
  @Get(':id/items/:item')
  @Header('content-type', JSON_TYPE)
  item(@OwnedId() at: Owned, @Param('item') item: string): Promise<string> {
    return this.conversations.item(at, item);
  }

  @Describe('Conversations', 'Delete an item of a conversation', { result: 'Conversation' })
  @Delete(':id/items/:item')
  @Header('content-type', JSON_TYPE)
  async removeItem(@OwnedId() at: Owned, @Param('item') item: string): Promise<string> {
    return asciiJson(await this.conversations.removeItem(at, item));
  }
}
