import { Module } from '@nestjs/common';
import { ChatController } from './chat.controller';

/** Answers to conversations. */
@Module({ controllers: [ChatController] })
export class ChatModule {}
