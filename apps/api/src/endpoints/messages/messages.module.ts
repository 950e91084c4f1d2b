import { Module } from '@nestjs/common';
import { MessagesController } from './messages.controller';

/** Anthropic's Messages API. */
@Module({ controllers: [MessagesController] })
export class MessagesModule {}
