import { asciiJson } from '@baton/text';
import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Post,
  Query,
} from '@nestjs/common';
import { Describe, PAGING } from '../../http/operation';
import { ConversationsService } from './conversations.service';

const JSON_TYPE = 'application/json';

type Parameters = Readonly<Record<string, unknown>>;

/** OpenAI's conversations: items that responses go on with and add to. */
@Controller('v1/conversations')
export class ConversationsController {
  constructor(private readonly conversations: ConversationsService) {}

  @Describe('Conversations', 'Begin a conversation', {
    ...{ body: 'ConversationRequest', result: 'Conversation' },
  })
  @Post()
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  async create(@Body() body: unknown): Promise<string> {
    return asciiJson(await this.conversations.create(body));
  }

  @Describe('Conversations', 'Read a conversation', { result: 'Conversation' })
  @Get(':id')
  @Header('content-type', JSON_TYPE)
  async retrieve(@Param('id') id: string): Promise<string> {
    return asciiJson(await this.conversations.retrieve(id));
  }

  @Describe('Conversations', 'Change the metadata of a conversation', {
    body: 'ConversationRequest',
  })
  @Post(':id')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  async update(@Param('id') id: string, @Body() body: unknown): Promise<string> {
    return asciiJson(await this.conversations.update(id, body));
  }

  @Describe('Conversations', 'Delete a conversation', { result: 'Deleted' })
  @Delete(':id')
  @Header('content-type', JSON_TYPE)
  async remove(@Param('id') id: string): Promise<string> {
    await this.conversations.remove(id);
    return asciiJson({ id, object: 'conversation.deleted', deleted: true });
  }

  @Describe('Conversations', 'Add items to a conversation', { body: 'ConversationRequest' })
  @Post(':id/items')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  addItems(@Param('id') id: string, @Body() body: unknown): Promise<string> {
    return this.conversations.addItems(id, body);
  }

  @Describe('Conversations', 'List the items of a conversation', { query: PAGING, result: 'List' })
  @Get(':id/items')
  @Header('content-type', JSON_TYPE)
  listItems(@Param('id') id: string, @Query() query: Parameters): Promise<string> {
    return this.conversations.listItems(id, query);
  }

  @Describe('Conversations', 'Read an item of a conversation')
  @Get(':id/items/:item')
  @Header('content-type', JSON_TYPE)
  async item(@Param('id') id: string, @Param('item') item: string): Promise<string> {
    return asciiJson(await this.conversations.item(id, item));
  }

  @Describe('Conversations', 'Delete an item of a conversation')
  @Delete(':id/items/:item')
  @Header('content-type', JSON_TYPE)
  async removeItem(@Param('id') id: string, @Param('item') item: string): Promise<string> {
    return asciiJson(await this.conversations.removeItem(id, item));
  }
}
