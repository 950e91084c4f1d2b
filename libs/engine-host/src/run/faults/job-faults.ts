import { LiveClock } from '@baton/clock';
import {
  emptyFrameEntry,
  type Fault,
  type FaultAction,
  type FaultNote,
  type FaultStage,
  INJECTED,
  isDue,
} from '@baton/contract';
import { InvariantError, type Micros } from '@baton/kernel';
import { Injectable } from '@nestjs/common';
import { Endings } from '../endings/endings';
import { EngineSlot } from '../engine/engine-slot';
import { StepLoop } from '../engine/step-loop';
import { Frames } from '../runs/frames';
import type { Run } from '../runs/run';
import { Documents, EndProcess } from '../tokens';

type ActionOf<K extends FaultAction['kind']> = Extract<FaultAction, { kind: K }>;

/** A fault action that ends a run or the process. */
type EngineFaultAction = ActionOf<'error' | 'crash-engine' | 'kill-process'>;

/** Wall µs between the last message of a process and its end: time to send that message. */
const FINAL_FLUSH_US = 20_000;

/**
 * Prefix of the marks of requests that have already killed a process. A mark is small and is
 * dropped with the request.
 */
const KILL_MARKS = {
  collection: 'spent-faults',
  bounds: { maxEntries: 10_000, ttlMs: 600_000 },
} as const;

/**
 * Carries out the faults of a job, and reports each to the API. It decides only whether the stage
 * is reached within the fault's window. It is called only for jobs with faults.
 */
@Injectable()
export class JobFaults {
  private readonly entry = emptyFrameEntry();

  constructor(
    private readonly documents: Documents,
    private readonly clock: LiveClock,
    private readonly endProcess: EndProcess,
    private readonly slot: EngineSlot,
    private readonly loop: StepLoop,
    private readonly frames: Frames,
    private readonly endings: Endings,
  ) {}

  /** Before the run enters the engine: the faults at prefill, and those of the first tokens. */
  async prepare(run: Run): Promise<void> {
    for (const { action, stage } of run.job.faults ?? []) {
      if (action.kind === 'kill-process' && (await this.hasKilled(run))) continue;
      if (stage !== 'decode' || !isEngineFault(action)) continue;
      run.faultAfterTokens = Math.min(run.faultAfterTokens, action.afterTokens);
    }
  }

  /** Calls `enter` now, later or never. */
  onPrefill(run: Run, enter: () => void): void {
    if (run.stage === 'decode') return enter();
    // An engine with both stages has no point between prompt and generation.
    const stages =
      run.stage === 'aggregated' ? (['prefill', 'decode'] as const) : (['prefill'] as const);
    const delayUs = stages.reduce((sum, stage) => sum + this.delayUs(run, stage), 0);
    this.later(run, delayUs, (atUs) => {
      run.causeUs = Math.max(run.causeUs, atUs);
      if (!this.carryOutNext(run, 'prefill')) enter();
    });
  }

  /**
   * The KV has arrived at `readyUs`; `join` gets the instant at which the sequence may join the
   * batch.
   */
  onDecode(run: Run, readyUs: Micros, join: (atUs: Micros) => void): void {
    const delayUs = this.delayUs(run, 'decode');
    if (delayUs === 0) join(readyUs);
    else this.later(run, delayUs, (atUs) => join(Math.max(readyUs, atUs)));
  }

  /** Whether a fault makes the read of this run find its lease expired. */
  expiresLease(run: Run): boolean {
    return this.take(run, 'transfer', 'expire-lease').length > 0;
  }

  /** The slowdown of a transfer; undefined when it has failed. */
  onTransfer(run: Run): { readonly extraUs: Micros; readonly factor: number } | undefined {
    const extraUs = this.delayUs(run, 'transfer');
    const factors = this.take(run, 'transfer', 'slow-link').map(({ factor }) => factor);
    if (this.carryOutNext(run, 'transfer')) return undefined;
    return { extraUs, factor: Math.min(1, ...factors) };
  }

  /**
   * Called when the run has a token beyond those that the fault lets through. True when neither
   * that token nor any later one may be published.
   */
  isTokenFaultDue(run: Run): boolean {
    const hasFault = this.dueFaults(run, 'decode').length > 0;
    if (!hasFault) run.faultAfterTokens = Infinity;
    return hasFault;
  }

  /** Carries out the fault that `isTokenFaultDue` found. */
  carryOutTokenFault(run: Run): void {
    if (run.state !== 'over') this.carryOutNext(run, 'decode');
  }

  /** Throws when the engine is to crash; the guard of the engine slot recovers. */
  private carryOutNext(run: Run, stage: FaultStage): boolean {
    const [fault] = this.dueFaults(run, stage);
    if (fault === undefined) return false;
    this.addFaultFrame(run, fault);
    const { kind } = fault.action;
    if (kind === 'kill-process') {
      this.kill(run, fault);
      return true;
    }
    if (kind === 'crash-engine') throw new InvariantError('the engine crashes on purpose');
    this.endings.failRequest(run, INJECTED);
    return true;
  }

  /**
   * The next engine that takes the job does not crash, so that a request kills only one process.
   */
  private kill(run: Run, fault: Fault): void {
    const { documents, clock, endProcess, loop } = this;
    loop.pause();
    const end = (): void => void clock.wall.at(clock.wall.nowUs() + FINAL_FLUSH_US, endProcess);
    documents.put(killMarkOf(run), fault.rule, KILL_MARKS.bounds).then(end, end);
  }

  private async hasKilled(run: Run): Promise<boolean> {
    run.hasKilledProcess = (await this.documents.get(killMarkOf(run))) !== undefined;
    return run.hasKilledProcess;
  }

  /** The earliest first. */
  private dueFaults(run: Run, stage: FaultStage): readonly Fault[] {
    const due = this.due(run, stage).filter(
      ({ action }) =>
        isEngineFault(action) && !(run.hasKilledProcess && action.kind === 'kill-process'),
    );
    return due.sort((a, b) => tokensBefore(a) - tokensBefore(b));
  }

  private delayUs(run: Run, stage: FaultStage): Micros {
    return this.take(run, stage, 'delay').reduce((sum, { delayUs }) => sum + delayUs, 0);
  }

  /** Takes the due actions of one kind; each is reported to the API. */
  private take<K extends FaultAction['kind']>(run: Run, stage: FaultStage, kind: K): ActionOf<K>[] {
    const due = this.due(run, stage).filter(({ action }) => action.kind === kind);
    for (const fault of due) this.addFaultFrame(run, fault);
    return due.map(({ action }) => action as ActionOf<K>);
  }

  private due(run: Run, stage: FaultStage): Fault[] {
    const { faults = [] } = run.job;
    const nowUs = this.clock.wall.nowUs();
    return faults.filter((fault) => fault.stage === stage && isDue(fault, nowUs));
  }

  private later(run: Run, delayUs: Micros, go: (atUs: Micros) => void): void {
    const { clock, slot } = this;
    if (delayUs === 0) return go(run.causeUs);
    const atUs = clock.nowUs() + delayUs;
    clock.atSim(atUs, () => slot.guard(() => run.state === 'running' && go(atUs)));
  }

  private addFaultFrame(run: Run, { action, stage, rule }: Fault): void {
    const note: FaultNote = { fault: action.kind, stage, rule };
    const { frames } = this;
    const { epoch, outbox, job } = run;
    const tail = JSON.stringify(note);
    frames.add(outbox, { ...this.entry, kind: 'fault', streamId: job.streamId, epoch, tail });
    frames.flushSoon();
  }
}

function killMarkOf(run: Run): { readonly collection: string; readonly id: string } {
  return { collection: KILL_MARKS.collection, id: run.job.requestId };
}

function isEngineFault(action: FaultAction): action is EngineFaultAction {
  const { kind } = action;
  return kind === 'error' || kind === 'crash-engine' || kind === 'kill-process';
}

function tokensBefore({ action }: Fault): number {
  return isEngineFault(action) ? action.afterTokens : 0;
}
