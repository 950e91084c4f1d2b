import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { AdaptersController } from './adapters.controller';

/** The LoRA adapters of a running server. */
@Module({ imports: [ClusterModule], controllers: [AdaptersController] })
export class AdaptersModule {}
