import { type WorkerDependencies, WorkerModule } from '@baton/engine-host';
import { type DynamicModule, Module } from '@nestjs/common';

/** Prefill engines: they compute prompts and hold their KV until decode has fetched it. */
@Module({})
export class PrefillModule {
  static forRoot(dependencies: WorkerDependencies): DynamicModule {
    return { module: PrefillModule, imports: [WorkerModule.forRoot(dependencies)] };
  }
}
