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
import { Describe, PAGING, type QueryParameter } from '../../http/operation';
import { StoredChatsService } from './stored-chats.service';

const JSON_TYPE = 'application/json';
const LISTING: readonly QueryParameter[] = [
  ...PAGING,
  { name: 'model', type: 'string', meaning: 'Only chats of this model.' },
];

type Parameters = Readonly<Record<string, unknown>>;

/** OpenAI's stored chat completions: those that were made with `store`. */
@Controller('v1/chat/completions')
export class StoredChatsController {
  constructor(private readonly chats: StoredChatsService) {}

  @Describe('Text', 'List stored chat completions', { query: LISTING, result: 'List' })
  @Get()
  @Header('content-type', JSON_TYPE)
  list(@Query() query: Parameters): Promise<string> {
    return this.chats.list(query);
  }

  @Describe('Text', 'Read a stored chat completion', { result: 'ChatCompletion' })
  @Get(':id')
  @Header('content-type', JSON_TYPE)
  async retrieve(@Param('id') id: string): Promise<string> {
    return asciiJson(await this.chats.find(id));
  }

  @Describe('Text', 'Change the metadata of a stored chat completion', {
    ...{ body: 'Object', result: 'ChatCompletion' },
  })
  @Post(':id')
  @HttpCode(200)
  @Header('content-type', JSON_TYPE)
  async update(@Param('id') id: string, @Body() body: unknown): Promise<string> {
    return asciiJson(await this.chats.update(id, body));
  }

  @Describe('Text', 'Delete a stored chat completion', { result: 'Deleted' })
  @Delete(':id')
  @Header('content-type', JSON_TYPE)
  async remove(@Param('id') id: string): Promise<string> {
    await this.chats.remove(id);
    return asciiJson({ id, object: 'chat.completion.deleted', deleted: true });
  }

  @Describe('Text', 'List the messages of a stored chat completion', {
    ...{ query: PAGING, result: 'List' },
  })
  @Get(':id/messages')
  @Header('content-type', JSON_TYPE)
  messages(@Param('id') id: string, @Query() query: Parameters): Promise<string> {
    return this.chats.messages(id, query);
  }
}
