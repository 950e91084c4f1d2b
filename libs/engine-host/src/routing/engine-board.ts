import type { EngineLoad, Stage } from '@baton/contract';
import { secondsToUs } from '@baton/kernel';
import type { EngineAdapters, EngineView } from '@baton/policies';

/**
 * An engine publishes its load at least three times a second, and once a second when its process is
 * idle. An engine that is silent for this long gets no jobs, and its waiting jobs are placed again.
 */
const SILENT_AFTER_US = { busy: secondsToUs(1), idle: secondsToUs(2.5) };
/** The same as shares of `presence_ttl`, for a `presence_ttl` above its default. */
const SHARE_OF_PRESENCE = { busy: 1 / 3, idle: 5 / 6 };
/**
 * Time after which a silent engine is dropped, counted from its silence: long after the last job
 * that a router could have put into its queue.
 */
const FORGET_AFTER_US = secondsToUs(60);
/** An engine without work has taken every job that reached it this long ago. */
const IDLE_TAKES_US = secondsToUs(2);

const NO_ADAPTERS = { running: [], waiting: [] };

/** A job that this router has put into the engine's own queue. */
interface Sent {
  readonly ordinal: number;
  readonly tokens: number;
  readonly sentUs: number;
}

/** A request assigned to the engine while it is still elsewhere. */
interface Expected {
  readonly tokens: number;
  readonly hasArrived: () => boolean;
}

export interface EngineBoardOptions {
  /** The name by which engines count the jobs of this router. */
  readonly routerId: string;
  readonly blockSize: number;
  /** Time for which a load is kept even if newer ones arrive, in wall µs. Default: 0. */
  readonly keepUs?: number;
  /**
   * `presence_ttl` in wall µs; above 3 s it lengthens the time for which a silent engine counts as
   * alive. Default: 0.
   */
  readonly presenceUs?: number;
  /** Most LoRA adapters of one batch. Unset: the engines serve none. */
  readonly maxAdapters?: number | undefined;
  readonly onJoin: (engineId: string, kvTokens: number) => void;
  readonly onLeave: (engineId: string) => void;
}

/**
 * One router's view of the engines: the newest published load of each, plus the jobs that the
 * router has sent there since, until the engine reports that it has taken them. All instants are
 * wall µs of the caller.
 */
export class EngineBoard {
  private readonly rows = new Map<string, Row>();
  private readonly byStage: Record<Stage, Row[]> = { prefill: [], decode: [], aggregated: [] };
  /** Silence before this instant was caused by this process. */
  private listeningSinceUs = 0;

  constructor(private readonly options: EngineBoardOptions) {}

  /**
   * Resets the silence of engines after this process or the broker was unavailable, because loads
   * can have been missed.
   */
  listenAfresh(nowUs: number): void {
    this.listeningSinceUs = nowUs;
  }

  onLoad(load: EngineLoad, nowUs: number): void {
    const known = this.rows.get(load.engineId) ?? this.join(load);
    known.take(load, load.taken[this.options.routerId] ?? 0, nowUs);
  }

  /** The engines of a stage that accept work, by index: all, or those of one data-parallel rank. */
  ready(stage: Stage, nowUs: number, rank?: number): EngineView[] {
    return this.byStage[stage].filter(
      (row) =>
        row.isReady && !this.isSilent(row, nowUs) && (rank === undefined || row.rank === rank),
    );
  }

  isReady(engineId: string, nowUs: number): boolean {
    const row = this.rows.get(engineId);
    return row !== undefined && row.isReady && !this.isSilent(row, nowUs);
  }

  /** Records a job sent to the engine's own queue. Returns its ordinal there. */
  sent(engineId: string, tokens: number, nowUs: number): number {
    return this.rows.get(engineId)?.send(tokens, nowUs) ?? 0;
  }

  expect(engineId: string, expected: Expected): void {
    this.rows.get(engineId)?.expect(expected);
  }

  /** Engines that drain or are silent. */
  unavailableRows(nowUs: number): Row[] {
    return [...this.rows.values()].filter((row) => row.isDraining || this.isSilent(row, nowUs));
  }

  /**
   * Drops engines that have been silent for so long that no router sends jobs there. An engine
   * whose silence was reset may have got jobs since, which must be placed again before it is
   * dropped.
   */
  forgetOld(nowUs: number): void {
    for (const row of this.rows.values()) {
      const { engineId, stage } = row;
      if (this.silenceUs(row, nowUs) < FORGET_AFTER_US + row.silentAfterUs) continue;
      this.rows.delete(engineId);
      this.byStage[stage] = this.byStage[stage].filter((row) => row.engineId !== engineId);
      this.options.onLeave(engineId);
    }
  }

  private isSilent(row: Row, nowUs: number): boolean {
    return this.silenceUs(row, nowUs) > row.silentAfterUs;
  }

  private silenceUs({ heardUs }: Row, nowUs: number): number {
    return nowUs - Math.max(heardUs, this.listeningSinceUs);
  }

  private join(load: EngineLoad): Row {
    const { engineId, stage, numBlocks } = load;
    const { blockSize, keepUs = 0, presenceUs = 0, maxAdapters } = this.options;
    const row = new Row(engineId, stage, { blockSize, keepUs, presenceUs, maxAdapters });
    this.rows.set(engineId, row);
    row.index = load.index;
    row.rank = load.rank ?? 0;
    this.byStage[stage] = [...this.byStage[stage], row].sort((a, b) => a.index - b.index);
    this.options.onJoin(engineId, numBlocks * blockSize);
    return row;
  }
}

class Row implements EngineView {
  requests = 0;
  waitingRequests = 0;
  waitingTokens = 0;
  kvTokens = 0;
  kvUsage = 0;
  adapters: EngineAdapters | undefined;
  index = 0;
  rank = 0;
  heardUs = 0;
  silentAfterUs = SILENT_AFTER_US.busy;
  private readUs = -Infinity;
  private state: EngineLoad['state'] = 'starting';
  private ordinal = 0;
  private sent: Sent[] = [];
  private expected: Expected[] = [];

  constructor(
    readonly engineId: string,
    readonly stage: Stage,
    private readonly options: {
      readonly blockSize: number;
      readonly keepUs: number;
      readonly presenceUs: number;
      readonly maxAdapters: number | undefined;
    },
  ) {}

  get isReady(): boolean {
    return this.state === 'ready';
  }

  get isDraining(): boolean {
    return this.state === 'draining';
  }

  take(load: EngineLoad, taken: number, nowUs: number): void {
    this.heardUs = nowUs;
    const pace = load.isSlow === true ? 'idle' : 'busy';
    const share = this.options.presenceUs * SHARE_OF_PRESENCE[pace];
    this.silentAfterUs = Math.max(SILENT_AFTER_US[pace], share);
    this.state = load.state;
    if (nowUs - this.readUs < this.options.keepUs) return;
    this.readUs = nowUs;
    const isIdle = load.requests === 0;
    const wasTaken = ({ ordinal, sentUs }: Sent): boolean =>
      ordinal <= taken || (isIdle && nowUs - sentUs > IDLE_TAKES_US);
    if (this.sent.length > 0) this.sent = this.sent.filter((sent) => !wasTaken(sent));
    if (this.expected.length > 0) {
      this.expected = this.expected.filter(({ hasArrived }) => !hasArrived());
    }
    this.requests = load.requests;
    this.waitingRequests = load.waitingRequests;
    this.waitingTokens = load.waitingTokens;
    this.kvTokens = load.usedBlocks * this.options.blockSize;
    this.kvUsage = load.usedBlocks / Math.max(1, load.numBlocks);
    const { maxAdapters: most } = this.options;
    if (most !== undefined) this.adapters = { ...(load.adapters ?? NO_ADAPTERS), most };
    for (const { tokens } of this.sent) this.count(tokens);
    for (const { tokens } of this.expected) this.count(tokens);
  }

  send(tokens: number, sentUs: number): number {
    this.ordinal += 1;
    this.sent.push({ ordinal: this.ordinal, tokens, sentUs });
    this.count(tokens);
    return this.ordinal;
  }

  expect(expected: Expected): void {
    this.expected.push(expected);
    this.count(expected.tokens);
  }

  private count(tokens: number): void {
    this.requests += 1;
    this.waitingRequests += 1;
    this.waitingTokens += tokens;
  }
}
