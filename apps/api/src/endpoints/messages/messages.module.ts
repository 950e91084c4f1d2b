import { Module } from '@nestjs/common';
import { MessagesController } from './messages.controller';

/** Anthropic's way to ask for text. */
@Module({ controllers: [MessagesController] })
export class MessagesModule {}
