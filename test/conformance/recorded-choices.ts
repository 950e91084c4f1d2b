import type { BatonConfig } from '@baton/config';
import type { EngineJob, EngineLoad } from '@baton/contract';
import { chainBlockHashes, RandomStream } from '@baton/kernel';
import type { GenerationRequest } from '@baton/openai';
import type { OwnSpec, PlacementContext, PolicyWatch } from '@baton/policies';
import { buildRouting, type JobRouting } from '@baton/engine-host';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, channels, type Transport } from '@baton/transport';
import { type Workload, WorkloadBuilder } from '@baton/workload';
import { cacheSalt } from '../../apps/api/src/request/route/route';
import { ManualWallClock, settle } from '../../libs/clock/test/manual-wall-clock';

/** Calls of modules have no limit of wall time here: a busy machine must change no decision. */
export const UNLIMITED: PolicyWatch = {
  onFault: ({ message }) => {
    throw new Error(message);
  },
};

export const ENGINES: Partial<BatonConfig> = {
  stepTime: 'per-token',
  prefillTimePerToken: 1,
  interTokenLatency: 12,
  maxNumSeqs: 64,
  numGpuBlocksOverride: 2_000,
  maxNumBatchedTokens: 256,
  maxModelLen: 2_000,
};
export const MODEL = { model: 'llama-3.1-8b' } as unknown as GenerationRequest;

/** Prompts of a few families, whose tokens and hashes both clocks get. */
export interface Trace {
  readonly workload: Workload;
  readonly prompts: readonly Int32Array[];
}

export function traceOf({ seed, blockSize }: BatonConfig, rows = 200): Trace {
  const random = RandomStream.root(seed);
  const builder = new WorkloadBuilder({ contentBlockTokens: blockSize });
  const prompts: Int32Array[] = [];
  for (let row = 0; row < rows; row++) {
    const [family, shared] = [random.integer(6), random.integer(160)];
    const ids = Int32Array.from({ length: 1 + shared + random.integer(160) }, (_, at) =>
      at < shared ? family * 1_000 + at : 100_000 + row * 1_000 + at,
    );
    builder.add({
      arrivalUs: row * 30_000 + random.integer(30_000),
      promptTokens: ids.length,
      outputTokens: 1 + random.integer(30),
      session: 1 + random.integer(20),
    });
    for (const hash of hashesOf(ids, blockSize)) builder.addContent(hash);
    prompts.push(ids);
  }
  return { workload: builder.build(), prompts };
}

export function hashesOf(ids: Int32Array, blockSize: number): number[] {
  return chainBlockHashes(ids, blockSize, cacheSalt(MODEL));
}

/** One call of the module on the virtual clock, with the loads that the policy saw. */
export interface Seen<Answer> {
  readonly loads: readonly EngineLoad[];
  readonly waitingRequests: number;
  readonly answer: Answer;
}

export function seenIn<Answer>(
  context: PlacementContext & { readonly waitingRequests?: number },
  { blockSize }: BatonConfig,
  answer: Answer,
): Seen<Answer> {
  const loads = context.engines.map((engine, index): EngineLoad => {
    const { engineId, requests, waitingRequests, waitingTokens, kvTokens } = engine;
    return {
      engineId,
      index,
      stage: context.stage,
      state: 'ready',
      requests,
      waitingRequests,
      waitingTokens,
      numBlocks: 2_000,
      usedBlocks: Math.round(kvTokens / blockSize),
      // The loads of the virtual clock have every request that was sent before.
      taken: { me: Number.MAX_SAFE_INTEGER },
    };
  });
  return { loads, waitingRequests: context.waitingRequests ?? 0, answer };
}

/** The module, with each of its calls appended to `seen` as `ask` returns it. */
export function recorded<P>(spec: unknown, wrap: (own: P) => P): OwnSpec<P> {
  const own = spec as OwnSpec<P>;
  const create: OwnSpec<P>['module']['create'] = (parts) => wrap(own.module.create(parts));
  return { ...own, module: { ...own.module, create } };
}

/** A router of the API or of a prefill worker, whose engines publish loads of the virtual clock. */
export class LiveRouter {
  readonly routing: JobRouting;
  private readonly transport: Transport = attachInProcess();

  constructor(
    private readonly config: BatonConfig,
    role: 'api' | 'prefill' = 'api',
  ) {
    const wall = new ManualWallClock();
    this.routing = buildRouting({
      config,
      transport: this.transport,
      wall,
      log: createLogger({ name: 'test', level: 'silent' }),
      routerId: 'me',
      role,
      policyWatch: UNLIMITED,
    });
  }

  async publish(seen: readonly Seen<unknown>[]): Promise<void> {
    for (const load of seen.flatMap(({ loads }) => loads)) {
      this.transport.bus.publish(channels.loads, Buffer.from(JSON.stringify(load)));
    }
    await settle();
  }

  place(row: number, trace: Trace): string[] {
    const { decodeEngineId, placed } = this.routing.atArrival(this.job(row, trace)).job;
    return [decodeEngineId ?? [], placed?.own?.engineId ?? []].flat();
  }

  /** The decode engine, chosen as a prefill worker chooses it when the prompt is held. */
  handOver(row: number, trace: Trace): string | undefined {
    return this.routing.atHandoff(this.job(row, trace)).job.placed?.own?.engineId;
  }

  async stop(): Promise<void> {
    await this.routing.stop();
    await this.transport.close();
  }

  private job(row: number, { workload, prompts }: Trace): EngineJob {
    const ids = prompts[row]!;
    return {
      requestId: `${row}`,
      submission: 1,
      apiId: 'api',
      streamId: row,
      causeUs: 0,
      arrivalUs: 0,
      promptTokens: ids.length,
      outputTokens: 1,
      maxTokens: 1,
      priority: 0,
      endReason: 'length',
      sessionKey: workload.session[row]!,
      flow: this.config.topology.includes('A') ? 'local' : 'route',
      blockHashes: hashesOf(ids, this.config.blockSize),
    } as EngineJob;
  }
}
