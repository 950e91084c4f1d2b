import { Module } from '@nestjs/common';
import { GenerateController } from './generate.controller';
import { RenderController } from './render.controller';
import { SglangController } from './sglang.controller';
import { TokenizeController } from './tokenize.controller';

/** Requests and answers as token ids. */
@Module({
  controllers: [GenerateController, RenderController, SglangController, TokenizeController],
})
export class TokensModule {}
