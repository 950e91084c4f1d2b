import { Module } from '@nestjs/common';
import { PoolingController } from './pooling.controller';

/** Embeddings, classes and scores. */
@Module({ controllers: [PoolingController] })
export class EmbeddingsModule {}
