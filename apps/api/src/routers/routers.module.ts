import { Module } from '@nestjs/common';
import { ClusterModule } from '../cluster/cluster.module';
import { BootstrapController } from './bootstrap.controller';
import { KvRelease } from './kv-release';
import { LegPairs } from './leg-pairs';
import { WaitingLegs } from '../observers/port/state';
import { Legs } from './legs';

const PROVIDERS = [KvRelease, LegPairs, Legs, { provide: WaitingLegs, useExisting: Legs }];

/** Hand-overs that routers of other projects arrange. */
@Module({
  imports: [ClusterModule],
  controllers: [BootstrapController],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class RoutersModule {}
