import { Module } from '@nestjs/common';
import { ClusterModule } from '../../cluster/cluster.module';
import { FramesModule } from '../../frames/frames.module';
import { ClusterPictures } from '../../observers/live-page/cluster-pictures';
import { Viewers } from '../../observers/live-page/viewers';
import { ObserversModule } from '../../observers/observers.module';
import { RequestModule } from '../../request/request.module';
import { UiController } from './ui.controller';

/** The live page of the cluster. */
@Module({
  imports: [ClusterModule, FramesModule, ObserversModule, RequestModule],
  controllers: [UiController],
  providers: [ClusterPictures, Viewers],
})
export class LivePageModule {}
