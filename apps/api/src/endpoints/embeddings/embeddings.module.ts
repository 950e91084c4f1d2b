import { Module } from '@nestjs/common';
import { RequestModule } from '../../request/request.module';
import { PoolingController } from './pooling.controller';

/** Embeddings, classes and scores. */
@Module({ imports: [RequestModule], controllers: [PoolingController] })
export class EmbeddingsModule {}
