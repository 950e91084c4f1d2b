import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { HttpModule } from '../../http/http.module';
import { ModelsController } from './models.controller';

/** The served models and the version of the server. */
@Module({
  imports: [ClusterModule, HttpModule],
  controllers: [ModelsController],
})
export class ModelsModule {}
