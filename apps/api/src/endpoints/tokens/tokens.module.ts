import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { RequestModule } from '../../request/request.module';
import { GenerateController } from './generate.controller';
import { RenderController } from './render.controller';
import { TokenizeController } from './tokenize.controller';

/** Requests and answers as token ids. */
@Module({
  imports: [ClusterModule, RequestModule],
  controllers: [GenerateController, RenderController, TokenizeController],
})
export class TokensModule {}
