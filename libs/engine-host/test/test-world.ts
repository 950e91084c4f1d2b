import { LiveClock } from '@baton/clock';
import { type EngineJob, type FrameEntry, readFrame, type Stage } from '@baton/contract';
import { Engine, type EngineOptions, type EnginePort } from '@baton/engine';
import { findGpu, findModel } from '@baton/hardware';
import { secondsToUs } from '@baton/kernel';
import type { JobRouting } from '../src/routing/job-routing';
import { buildStepTimeModel } from '@baton/step-time';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, channels, InProcessHub, type Transport } from '@baton/transport';
import { ManualWallClock, settle } from '../../clock/test/manual-wall-clock';
import { STAGE_WAYS } from './stage-ways';
import type { EngineHost } from '../src/host/engine-host';
import type { HostOptions } from '../src/run/tokens';
import { EngineRanks } from '../src/worker/engine-ranks';

/** 20 ms per prompt, 10 ms per token, for any batch. */
export const PROMPT_US = 20_000;
export const TOKEN_US = 10_000;
/** Results of a step are sent by this much before its end. */
export const LEAD_US = 5_000;
/** Duration of a transfer of a few kilobytes. */
export const TRANSFER_US = 1_000;
const API = 'api-test';

/** What arrived for one sequence, in order, as an API process sees it. */
export interface Received {
  readonly kind: FrameEntry['kind'];
  readonly reason: FrameEntry['reason'];
  readonly epoch: number;
  readonly first: number;
  readonly count: number;
  readonly extra: number;
  readonly tail: string | undefined;
  readonly stage: Stage;
  readonly stepEndUs: number;
  /** When the frame was published. */
  readonly atUs: number;
}

export interface WorldOptions {
  readonly speedup?: number;
  readonly engine?: Partial<EngineOptions>;
  readonly host?: Partial<HostOptions>;
  readonly buildEngine?: (options: EngineOptions) => EnginePort;
  readonly routing?: JobRouting;
  readonly endProcess?: () => void;
  /** Changes the transport of the host, for faults in it. */
  readonly wrap?: (transport: Transport) => Transport;
}

/**
 * Engine hosts on an in-process hub and a clock that a spec advances: one API process listens, and
 * nothing waits for real time.
 */
export class World {
  readonly wall = new ManualWallClock();
  readonly hub = new InProcessHub();
  readonly api: Transport = attachInProcess(this.hub);
  readonly received = new Map<number, Received[]>();
  private readonly locks: (() => void)[] = [];
  private readonly hosts: { host: EngineHost; ranks: EngineRanks; transport: Transport }[] = [];

  static async open(): Promise<World> {
    const world = new World();
    await world.api.presence.announceApi(API, 3_600_000);
    await world.api.bus.subscribe(channels.api(API), (frame) => world.receive(frame));
    return world;
  }

  async host(role: Stage, options: WorldOptions = {}): Promise<EngineHost> {
    const transport = attachInProcess(this.hub);
    this.watchLocks(transport);
    const ranks = new EngineRanks(role, 1, () => ({
      options: hostOptions(role, options),
      site: {
        stages: STAGE_WAYS,
        transport: options.wrap?.(transport) ?? transport,
        clock: new LiveClock(this.wall, options.speedup ?? 1),
        log: createLogger({ name: role, level: 'silent' }),
        ...(options.routing === undefined ? {} : { routing: options.routing }),
        ...(options.endProcess === undefined ? {} : { endProcess: options.endProcess }),
      },
    }));
    await ranks.start();
    const host = ranks.hosts[0]!;
    this.hosts.push({ host, ranks, transport });
    return host;
  }

  /** A job whose cause is now, added to the queue where its flow begins. */
  async submit(streamId: number, job: Partial<EngineJob> = {}): Promise<EngineJob> {
    const whole = this.job(streamId, job);
    const queue = { route: 'prefill', hold: 'prefill', attach: 'decode', local: 'aggregated' };
    await this.api.jobs.add(queue[whole.flow] as Stage, [whole]);
    await settle();
    return whole;
  }

  job(streamId: number, job: Partial<EngineJob> = {}): EngineJob {
    return {
      requestId: `request-${streamId}-0`,
      submission: 1,
      apiId: API,
      streamId,
      causeUs: this.wall.nowUs(),
      arrivalUs: this.wall.nowUs(),
      promptTokens: 40,
      blockHashes: [1, 2].map((block) => streamId * 1_000 + block),
      outputTokens: 5,
      endReason: 'length',
      maxTokens: 5,
      priority: 0,
      flow: 'route',
      ...job,
    };
  }

  of(streamId: number): Received[] {
    return this.received.get(streamId) ?? [];
  }

  kinds(streamId: number): string[] {
    return this.of(streamId).map(({ kind, stage }) => `${stage} ${kind}`);
  }

  /** Indexes of the tokens that came, including the last ones with the end. */
  tokens(streamId: number): number[] {
    return this.of(streamId).flatMap(({ kind, first, count }) => {
      if (kind !== 'tokens' && kind !== 'end') return [];
      const from = kind === 'end' ? first - count : first;
      return Array.from({ length: count }, (_none, i) => from + i);
    });
  }

  ended(streamId: number): Received | undefined {
    return this.of(streamId).find(({ kind }) => kind === 'end');
  }

  /** Moves the clock until every one of these sequences has ended. */
  untilEnded(...streamIds: number[]): Promise<boolean> {
    const all = (): boolean => streamIds.every((id) => this.ended(id) !== undefined);
    return this.wall.advanceUntil(all, 120_000_000);
  }

  /** Sends a message to an engine from an engine outside of this world. */
  async tell({ engineId }: EngineHost, message: object): Promise<void> {
    this.api.bus.publish(channels.engine(engineId), Buffer.from(JSON.stringify([message])));
    await settle();
  }

  async abort(...requestIds: string[]): Promise<void> {
    await this.api.ledger.abort(requestIds);
    this.api.bus.publish(channels.aborts, Buffer.from(JSON.stringify({ requestIds })));
    await settle();
  }

  /** Loses the broker's records; running sequences continue. */
  forgetRecords(): void {
    this.hub.records.clear();
  }

  /** Blocks in use in all engines. */
  blocksInUse(): number {
    return this.hosts.reduce((sum, { host }) => sum + host.presence().gauges.kvUsage, 0);
  }

  /** Drains an engine and removes it from the cluster. */
  stop(host: EngineHost, timeoutMs: number): Promise<void> {
    return this.placed(host).ranks.stop(timeoutMs);
  }

  /** Ends a process like `kill -9`: without a message, and nothing continues. */
  async kill(host: EngineHost): Promise<void> {
    host.loop.stop();
    const { transport } = this.placed(host);
    transport.bus.publish = () => undefined;
    await transport.close();
  }

  async close(): Promise<void> {
    for (const { transport } of this.hosts) await transport.close();
    await this.api.close();
  }

  /** Reports lost locks, as a consumer does when the broker has given its jobs to another one. */
  loseLocks(): void {
    for (const lose of this.locks.splice(0)) lose();
  }

  private placed(host: EngineHost): { ranks: EngineRanks; transport: Transport } {
    return this.hosts.find((each) => each.host === host)!;
  }

  private watchLocks({ jobs }: Transport): void {
    const consume = jobs.consume.bind(jobs);
    jobs.consume = (queue, options) =>
      consume(queue, {
        ...options,
        onJob: (taken) => {
          this.locks.push(() => options.onLockLost(taken));
          options.onJob(taken);
        },
      });
  }

  private receive(frame: Buffer): void {
    const atUs = this.wall.nowUs();
    readFrame(frame, (entry, { stage, stepEndUs }) => {
      const { streamId, kind, reason, epoch, first, count, extra, tail } = entry;
      const known = this.received.get(streamId) ?? [];
      known.push({ kind, reason, epoch, first, count, extra, tail, stage, stepEndUs, atUs });
      this.received.set(streamId, known);
    });
  }
}

const ENGINE: EngineOptions = {
  maxNumSeqs: 8,
  maxNumBatchedTokens: 512,
  blockSize: 16,
  numBlocks: 64,
  maxModelLen: 1_024,
  longPrefillTokenThreshold: 0,
  enablePrefixCaching: true,
  enableChunkedPrefill: true,
  schedulingPolicy: 'fcfs',
  stepTime: buildStepTimeModel(
    {
      kind: 'constant',
      timeToFirstTokenMs: PROMPT_US / 1_000,
      interTokenLatencyMs: TOKEN_US / 1_000,
    },
    { model: findModel('llama-3.1-8b'), gpu: findGpu('h100'), tp: 1 },
  ),
  seed: 1,
  warmupPenaltyPercent: 0,
  warmupSteps: 0,
};

export function hostOptions(role: Stage, world: WorldOptions = {}): HostOptions {
  const engine = { ...ENGINE, ...world.engine };
  const build = world.buildEngine ?? ((options: EngineOptions) => new Engine(options));
  return {
    role,
    facts: {
      model: 'm',
      maxNumSeqs: engine.maxNumSeqs,
      maxNumBatchedTokens: engine.maxNumBatchedTokens,
      blockSize: engine.blockSize,
      numBlocks: engine.numBlocks,
      tensorParallelSize: 1,
      kvBytesPerToken: 1,
      link: { bytesPerSecond: 1e18, baseLatencyUs: TRANSFER_US, ports: 1 },
    },
    buildEngine: (watcher, kvPool) =>
      build({
        ...engine,
        ...(watcher && { contentWatcher: watcher }),
        ...(kvPool && { kvPool }),
      }),
    resultLeadUs: LEAD_US,
    kvLeaseUs: secondsToUs(30),
    kvKeepUs: secondsToUs(480),
    kvRecomputeThreshold: 0,
    kvLoadFailurePolicy: 'fail',
    strictKv: false,
    workerLossPolicy: 'retry',
    maxRuns: 3,
    presenceTtlMs: 3_000,
    kvReadTimeoutUs: secondsToUs(1),
    maxLeaseWallUs: secondsToUs(30),
    startupUs: 0,
    faults: { crashAfter: undefined, failReads: 0, seed: 1 },
    publishesLoad: false,
    publishesTimelines: true,
    ...world.host,
  };
}
