import { Module } from '@nestjs/common';
import { PoolingController } from './pooling.controller';

/** Vectors, classes and scores. */
@Module({ controllers: [PoolingController] })
export class EmbeddingsModule {}
