import { WorkerModule, type WorkerProbe } from '@baton/worker';
import { type DynamicModule, Module } from '@nestjs/common';

/** Engines that stream tokens: decode, and aggregated ones that also compute the prompts. */
@Module({})
export class DecodeModule {
  static forRoot(probe: WorkerProbe): DynamicModule {
    return { module: DecodeModule, imports: [WorkerModule.forRoot(probe)] };
  }
}
