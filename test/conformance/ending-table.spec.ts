import { LiveClock } from '@baton/clock';
import { type EngineJob, readFrame } from '@baton/contract';
import { createLogger, EngineStats } from '@baton/telemetry';
import { channels, type QueueName, type RequestView, type Transport } from '@baton/transport';
import type { INestApplicationContext } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ManualWallClock, settle } from '../../libs/clock/test/manual-wall-clock';
import {
  type Ending,
  type EndingCause,
  ENDINGS,
} from '../../libs/engine-host/src/run/endings/ending-table';
import { Endings } from '../../libs/engine-host/src/run/endings/endings';
import { EngineModule } from '../../libs/engine-host/src/engine.module';
import { EngineHost } from '../../libs/engine-host/src/host/engine-host';
import { Intake } from '../../libs/engine-host/src/run/jobs/intake';
import { EngineIdentity } from '../../libs/engine-host/src/run/engine/engine-identity';
import { IncomingRuns, type Run, type RunState } from '../../libs/engine-host/src/run/runs/run';
import { engineQueue } from '../../libs/engine-host/src/routing/job-routing';
import { hostOptions, PROMPT_US, TOKEN_US } from '../../libs/engine-host/test/test-world';
import { MAX_LOST_RUNS } from '../../libs/transport/src/limits';
import { STAGE_WAYS } from '../../libs/engine-host/test/stage-ways';
import { PrivateRedis } from '../support/redis-server';
import { waitUntil } from '../support/wait';
import { inProcessWorld, job, redisWorld, start, Taking, type World } from './transport/world';

const CAUSES = Object.keys(ENDINGS) as EndingCause[];
const STATES: readonly RunState[] = ['beginning', 'running', 'moving-on', 'over'];
const ENDED = 'ended';
const BEHIND = 'behind';

/** What one ending can change. */
interface Effects {
  readonly state: RunState;
  readonly counters: Readonly<Record<string, number>>;
  /** Reasons of the `end` entries that the API got. */
  readonly ends: readonly string[];
  readonly view: RequestView | undefined;
  /** Runs on their way to the engine. */
  readonly incoming: number;
  /** Sequences that left the engine before their end. */
  readonly aborted: number;
  readonly heldBlocks: number;
}

/** A prefill engine with one job, whose own queue has another one behind it. */
class Bench {
  private readonly clock = new ManualWallClock();
  private readonly pending: Promise<unknown>[] = [];
  private readonly ends: string[] = [];
  private letBegin: () => void = () => undefined;
  private mark: () => void = () => undefined;
  private context!: INestApplicationContext;
  private host!: EngineHost;
  private queue!: QueueName;
  run!: Run;

  private constructor(
    private readonly api: Transport,
    private readonly broker: Transport,
  ) {}

  /** The run of the job has this state, and the engine takes no further jobs. */
  static async open(world: World, state: RunState): Promise<Bench> {
    const bench = new Bench(await world.connect(), await world.connect());
    await bench.listen();
    bench.trackCalls();
    if (state === 'beginning') bench.delayPermits();
    await bench.startEngine();
    await bench.reach(state === 'over' ? 'running' : state);
    bench.context.get(Intake, { strict: false }).pause();
    await bench.api.jobs.add(bench.queue, [bench.job(BEHIND)]);
    if (state === 'over') await bench.end('drop');
    return bench;
  }

  async end(cause: EndingCause): Promise<void> {
    const { run } = this;
    const endings = this.context.get(Endings, { strict: false });
    if (cause === 'complete') endings.finishRequest(run, { reason: 'stop', tokens: 4 });
    else if (cause === 'fail') endings.failRequest(run, 'engine_error');
    else if (cause === 'withdraw') await endings.withdrawRun(run);
    else endings.end(run, cause);
    await this.settled();
  }

  async effects(): Promise<Effects> {
    const { engine } = this.host;
    const [view] = await this.api.ledger.inspect([ENDED]);
    return {
      state: this.run.state,
      counters: this.context.get(EngineStats, { strict: false }).counters(),
      ends: [...this.ends],
      view,
      incoming: this.context.get(IncomingRuns, { strict: false }).sequences,
      aborted: engine.counters.aborted,
      heldBlocks: engine.snapshot().heldBlocks,
    };
  }

  /** Blocks in use once the batch in flight has ended. */
  async blocksInUse(): Promise<number> {
    await this.clock.advance(PROMPT_US + TOKEN_US);
    return this.host.options.facts.numBlocks - this.host.engine.snapshot().freeBlocks;
  }

  /** The permit of a run that has ended comes late. */
  async permit(): Promise<void> {
    this.letBegin();
    await this.settled();
  }

  /** Where the job is; the queue is empty afterwards. */
  async place(): Promise<'front' | 'held' | 'gone'> {
    const { api, queue } = this;
    const waiting = await api.jobs.waiting(queue);
    const taking = new Taking(api, queue);
    await taking.untilTaken(waiting);
    for (const taken of taking.taken) await taken.done();
    await taking.consumer.close();
    const held = await api.jobs.abandon(queue);
    if (held.length > 0) return 'held';
    expect(taking.ids).toEqual(waiting === 1 ? [BEHIND] : [ENDED, BEHIND]);
    return waiting === 1 ? 'gone' : 'front';
  }

  /** Number of further runs that the ledger permits when each is lost with its engine. */
  async runsLeft(): Promise<number> {
    for (let runs = 0; ; runs += 1) {
      const permit = await this.api.ledger.begin(start({ requestId: ENDED, maxRuns: 1 }));
      if (permit.kind !== 'run') return runs;
    }
  }

  stop(): void {
    this.host.loop.stop();
  }

  private async listen(): Promise<void> {
    await this.api.presence.announceApi('api-a', 3_600_000);
    await this.api.bus.subscribe(channels.api('api-a'), (payload) => {
      if (payload.length === 0) this.mark();
      else readFrame(payload, ({ kind, reason }) => kind === 'end' && this.ends.push(reason));
    });
  }

  /** A hand-over is never answered. */
  private trackCalls(): void {
    const { ledger, jobs } = this.broker;
    this.track(ledger, ['begin', 'failRun', 'withdraw']);
    const consume = jobs.consume.bind(jobs);
    jobs.consume = (queue, options) =>
      consume(queue, {
        ...options,
        onJob: (taken) => {
          this.track(taken, ['done', 'finishJob', 'giveBack']);
          taken.handOver = () => new Promise(() => undefined);
          options.onJob(taken);
        },
      });
  }

  private track<K extends string>(
    target: Record<K, (...args: never[]) => Promise<unknown>>,
    names: readonly K[],
  ): void {
    for (const name of names) {
      const call = target[name].bind(target);
      target[name] = (...args) => {
        const answer = call(...args);
        this.pending.push(answer);
        return answer;
      };
    }
  }

  private delayPermits(): void {
    const { ledger } = this.broker;
    const begin = ledger.begin.bind(ledger);
    const may = new Promise<void>((resolve) => (this.letBegin = resolve));
    ledger.begin = async (run) => {
      await may;
      return begin(run);
    };
  }

  private async startEngine(): Promise<void> {
    const options = hostOptions('prefill');
    const identity = new EngineIdentity(options);
    const site = {
      stages: STAGE_WAYS,
      transport: this.broker,
      clock: new LiveClock(this.clock, 1),
      log: createLogger({ name: 'engine', level: 'silent' }),
    };
    this.context = await NestFactory.createApplicationContext(
      EngineModule.forEngine(identity, options, site),
      { logger: false, abortOnError: false },
    );
    this.host = this.context.get(EngineHost, { strict: false });
    this.queue = engineQueue(identity.engineId);
  }

  private async reach(state: RunState): Promise<void> {
    await this.api.jobs.add(this.queue, [this.job(ENDED)]);
    const isReached = async (): Promise<boolean> => {
      // The run goes on only with this clock.
      await this.clock.advance(state === 'moving-on' ? PROMPT_US / 4 : 0);
      const run = this.host.runs.get(ENDED);
      if (run !== undefined) this.run = run;
      const isIn = state !== 'running' || this.host.engine.snapshot().running === 1;
      return run?.state === state && isIn;
    };
    await waitUntil(isReached, { what: `the run is ${state}` });
  }

  private job(requestId: string): EngineJob {
    const nowUs = this.clock.nowUs();
    return job(requestId, { causeUs: nowUs, arrivalUs: nowUs });
  }

  /** All calls to the broker are answered, and all frames are there. */
  private async settled(): Promise<void> {
    await settle();
    while (this.pending.length > 0) {
      await Promise.allSettled(this.pending.splice(0));
      await settle();
    }
    const arrived = new Promise<void>((resolve) => (this.mark = resolve));
    this.broker.bus.publish(channels.api('api-a'), Buffer.alloc(0));
    await arrived;
  }
}

function describeEndings(makeWorld: () => World): void {
  let world: World;
  let bench: Bench | undefined;
  beforeEach(() => {
    world = makeWorld();
  });
  afterEach(async () => {
    bench?.stop();
    await world.close();
  });

  const cells = CAUSES.flatMap((cause) => STATES.map((state) => [cause, state] as const));

  it.each(cells)('%s has the effects of its row on a run that is %s', async (cause, state) => {
    const ending: Ending = ENDINGS[cause];
    bench = await Bench.open(world, state);
    const before = await bench.effects();
    await bench.end(cause);
    const after = await bench.effects();

    if (state === 'over' || state === ending.spares) {
      expect(after).toEqual(before);
      expect(await bench.place()).toBe(state === 'over' ? 'gone' : 'held');
      return;
    }
    // The ledger does not know a run whose permit is on its way.
    const isKnown = state !== 'beginning';
    const isFinished = isKnown && ending.job === 'finished';
    const isKept = ending.claims === 'kept';
    const { frame } = ending;
    const counters = { ...before.counters };
    for (const key of countedBy(ending, state)) counters[key]! += 1;
    expect(after).toEqual({
      state: 'over',
      counters,
      ends: frame === undefined ? [] : [frame],
      view: isFinished
        ? { ...before.view, stage: 'finished', result: after.view?.result }
        : before.view,
      incoming: isKept ? before.incoming : 0,
      aborted: isKept || state !== 'running' ? 0 : 1,
      heldBlocks: isKept ? before.heldBlocks : 0,
    });
    if (isFinished)
      expect(after.view?.result?.reason).toBe(cause === 'complete' ? 'stop' : 'error');
    // Only held KV waits for a reader.
    expect(await bench.blocksInUse()).toBe(after.heldBlocks);

    if (!isKnown) {
      await bench.permit();
      counters['runs_excused']! += 1;
      expect((await bench.effects()).counters).toEqual(counters);
    }
    const places = { finished: 'gone', removed: 'gone', returned: 'front', left: 'held' } as const;
    expect(await bench.place()).toBe(places[ending.job]);
    expect(await bench.runsLeft()).toBe(runsLeftAfter(ending, isKnown));
  });
}

/** The counters that are one higher afterwards; a held prompt is released once. */
function countedBy({ counter, claims }: Ending, state: RunState): string[] {
  const isDue = counter !== undefined && (state !== 'beginning' || counter !== 'runs_excused');
  const isReleased = state === 'moving-on' && claims !== 'kept';
  return [...(isDue ? [counter] : []), ...(isReleased ? [`kv_released_${claims}`] : [])];
}

/** A run that counts is one of the lost runs as soon as the next one begins. */
function runsLeftAfter({ ledger, job: ended }: Ending, isKnown: boolean): number {
  if (!isKnown || ledger === 'withdraw') return MAX_LOST_RUNS;
  return ledger === 'failRun' || ended === 'finished' ? 0 : MAX_LOST_RUNS - 1;
}

describe('endings of runs, in process', () => {
  describeEndings(inProcessWorld);
});

describe('endings of runs, on Redis', () => {
  let server: PrivateRedis;
  beforeAll(async () => {
    server = await PrivateRedis.launch();
  });
  afterAll(() => server.close());

  describeEndings(() => redisWorld(server));
});
