import { WorkerModule, type WorkerProbe } from '@baton/worker';
import { type DynamicModule, Module } from '@nestjs/common';

/** Prefill engines: they compute prompts and hold their KV until decode has fetched it. */
@Module({})
export class PrefillModule {
  static forRoot(probe: WorkerProbe): DynamicModule {
    return { module: PrefillModule, imports: [WorkerModule.forRoot(probe)] };
  }
}
