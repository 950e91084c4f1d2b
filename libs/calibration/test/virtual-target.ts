import { NEVER, outcomeCode, type RequestLog, type RunRecord } from '@baton/analysis';
import { type ClusterScenario, simulate, type StepSpan, scenarioOf } from '@baton/simulation';
import { type BatonConfig, defaultConfig, engineSetup } from '@baton/config';
import { msToUs, usToMs } from '@baton/kernel';
import { isFirst, withContentBlock, type Workload, WorkloadBuilder } from '@baton/workload';
import { type Counters, type Part, PARTS } from '../src/live/counters';
import type { Answered, LiveTarget, TargetRun } from '../src/live/target';

export interface VirtualTargetOptions {
  /** The cluster whose step times the calibration must find. */
  readonly config: Partial<BatonConfig>;
  /** Time between client and engine per request, ms. */
  readonly overheadMs: number;
  /** True when it has a page of metrics. */
  readonly hasMetrics: boolean;
  /** Requests from this run on, counted from 0, are lost. */
  readonly failsFromRun?: number;
}

const COMPLETED = outcomeCode('completed');

/** A cluster of known step times on the virtual clock, from the view of its clients. */
export class VirtualTarget implements LiveTarget {
  runs = 0;
  private succeeded = 0;
  private readonly sums = Object.fromEntries(PARTS.map((part) => [part, 0])) as Record<
    Part,
    number
  >;
  private handedOver = 0;
  /** Length of the first prompt of the previous run. */
  private before = 0;

  constructor(private readonly options: VirtualTargetOptions) {}

  run(workload: Workload, continues = false): Promise<TargetRun> {
    const { config, overheadMs, failsFromRun = Infinity } = this.options;
    const resolved = defaultConfig(config);
    const asked = continues
      ? following(workload, this.before, resolved.blockSize)
      : later(workload, msToUs(overheadMs));
    this.before = workload.promptTokens[0] ?? 0;
    const scenario = scenarioOf(resolved, withContentBlock(asked, resolved.blockSize), {
      leap: false,
    });
    const { record, ends } = stepped(scenario);
    if (this.runs++ >= failsFromRun) return Promise.resolve(lost(record));
    const { log, itl } = record;
    const rows = Array.from({ length: log.count }, (_none, row) => row).slice(continues ? 1 : 0);
    this.count(log, rows);
    const answers = rows.map((row) => answerOf(log, row, ends));
    for (let row = 0; row < log.count; row++) {
      log.firstTokenUs.set(row, log.firstTokenUs.at(row) + msToUs(overheadMs));
      log.finishUs.set(row, log.finishUs.at(row) + msToUs(overheadMs));
    }
    return Promise.resolve({
      log,
      itl,
      failures: [],
      void: null,
      answers: answers.map((answer) => ({ ...answer, ttftMs: answer.ttftMs + overheadMs })),
    });
  }

  async measureKvBytes(workload: Workload): Promise<number | undefined> {
    const { config, hasMetrics } = this.options;
    const { log } = await this.run(workload);
    const { kvBytesPerToken } = engineSetup(defaultConfig(config), 'decode');
    return hasMetrics ? log.transferredTokens[0]! * kvBytesPerToken : undefined;
  }

  counters(): Promise<Counters | undefined> {
    if (!this.options.hasMetrics) return Promise.resolve(undefined);
    const none = { sum: 0, count: 0 };
    const { succeeded, sums, handedOver } = this;
    const seen = (part: Part) => {
      const isOfAll = part === 'queue' || part === 'prefill';
      return { sum: sums[part], count: isOfAll ? succeeded : handedOver };
    };
    return Promise.resolve({
      running: 0,
      waiting: 0,
      succeeded,
      engines: undefined,
      kvBlocks: undefined,
      parts: {
        queue: seen('queue'),
        prefill: seen('prefill'),
        transfer: seen('transfer'),
        first_step: seen('first_step'),
      },
      prefillSeconds: none,
      transferSeconds: none,
      transferBytes: none,
    });
  }

  /** Counts as the real API does. */
  private count(log: RequestLog, rows: readonly number[]): void {
    for (const row of rows) {
      const add = (part: Part, fromUs: number, untilUs: number): void => {
        this.sums[part] += (untilUs - fromUs) / 1e6;
      };
      const [held, first] = [log.heldUs.at(row), log.firstTokenUs.at(row)];
      add('queue', log.arrivalUs.at(row), log.prefillStartUs.at(row));
      add('prefill', log.prefillStartUs.at(row), held === NEVER ? first : held);
      this.succeeded += 1;
      if (held === NEVER) continue;
      add('transfer', held, log.transferEndUs.at(row));
      add('first_step', log.transferEndUs.at(row), first);
      this.handedOver += 1;
    }
  }
}

/** Adds the overhead to answers that later requests wait for. */
function later(workload: Workload, overheadUs: number): Workload {
  const arrivalUs = workload.arrivalUs.map((us, row) =>
    isFirst(workload, row) ? us : us + overheadUs,
  );
  return { ...workload, arrivalUs };
}

/** The prompt of the previous run, and then the one that begins with it. */
function following({ promptTokens }: Workload, before: number, blockSize: number): Workload {
  const builder = new WorkloadBuilder({ contentBlockTokens: blockSize });
  const add = (tokens: number, after?: number): void => {
    builder.add({ arrivalUs: 0, promptTokens: tokens, outputTokens: 1, after });
    for (let id = 1; id <= Math.floor(before / blockSize); id++) builder.addContent(id);
  };
  add(before);
  add(promptTokens[0]!, 0);
  return builder.build();
}

/** The run, with the instants at which the steps of each engine ended. */
function stepped(scenario: ClusterScenario): {
  record: RunRecord;
  ends: ReadonlyMap<number, readonly number[]>;
} {
  const ends = new Map<number, number[]>();
  const onSteps = ({ engine, endUs }: StepSpan): void => {
    const own = ends.get(engine);
    if (own === undefined) ends.set(engine, [endUs]);
    else own.push(endUs);
  };
  return { record: simulate(scenario, { onSteps }), ends };
}

/** Between its first and its last token, every step of its engine gives a sequence one token. */
function answerOf(
  log: RequestLog,
  row: number,
  ends: ReadonlyMap<number, readonly number[]>,
): Answered {
  const [sentUs, firstUs] = [log.arrivalUs.at(row), log.firstTokenUs.at(row)];
  const own = (ends.get(log.decodeEngine[row]!) ?? []).filter(
    (endUs) => endUs > firstUs && endUs <= log.finishUs.at(row),
  );
  const gapsMs = own.map((endUs, i) => usToMs(endUs - (own[i - 1] ?? firstUs)));
  return {
    startMs: usToMs(sentUs),
    ttftMs: usToMs(firstUs - sentUs),
    gapsMs,
    inputTokens: log.promptTokens[row]!,
    outputTokens: log.emittedTokens[row]!,
    cachedTokens: log.cachedTokens[row]!,
  };
}

function lost({ log, itl }: RunRecord): TargetRun {
  for (let row = 0; row < log.count; row++) log.outcome[row] = COMPLETED + 3;
  const failures = [{ error: 'http_500', count: log.count, example: 'fails on request' }];
  return { answers: Array(log.count).fill(undefined), log, itl, failures, void: null };
}
