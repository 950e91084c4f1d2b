import { type WorkerDependencies, WorkerModule } from '@baton/engine-host';
import { type DynamicModule, Module } from '@nestjs/common';

/** Engines that stream tokens: decode, and aggregated ones that also compute the prompts. */
@Module({})
export class DecodeModule {
  static forRoot(dependencies: WorkerDependencies): DynamicModule {
    return { module: DecodeModule, imports: [WorkerModule.forRoot(dependencies)] };
  }
}
