import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { BootstrapController } from './bootstrap.controller';

/** What Mooncake's proxy reads from a prefill instance. */
@Module({ imports: [ClusterModule], controllers: [BootstrapController] })
export class MooncakeModule {}
