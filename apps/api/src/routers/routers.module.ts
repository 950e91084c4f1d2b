import { Module } from '@nestjs/common';
import { ClusterModule } from '../cluster/cluster.module';
import { KvRelease } from './kv-release';
import { LegForms } from './leg-forms';
import { LegPairs } from './leg-pairs';
import { WaitingLegs } from '../observers/port/state';
import { Legs } from './legs';

const PROVIDERS = [
  KvRelease,
  LegForms,
  LegPairs,
  Legs,
  { provide: WaitingLegs, useExisting: Legs },
];

/** Hand-overs that routers of other projects arrange. */
@Module({
  imports: [ClusterModule],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class RoutersModule {}
