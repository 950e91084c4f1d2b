import { Injectable, Optional } from '@nestjs/common';
import { HostOptions } from '../../live-engine/tokens';
import { LiveClock } from '@baton/clock';
import {
  type KvTransferParams,
  parseKeptKvParams,
  parseKvTransferParams,
  parseRemoteRequestId,
} from '@baton/contract';
import type { SequenceSpec } from '@baton/engine';
import type { SourceName } from '@baton/handoff';
import { hashString, unreachable } from '@baton/kernel';
import { EngineSlot } from '../../live-engine/engine/engine-slot';
import { type Fetching, IncomingRuns, type Run, RunTable } from '../../live-engine/runs/run';
import { KvEvents } from '../../live-engine/observers/kv-events';
import { StepLoop } from '../../live-engine/engine/step-loop';
import type { HandoffRecord } from '@baton/transport';
import { Endings } from '../endings/endings';
import { FaultPlan } from '../faults/fault-plan';
import { FailedFetches } from '../handoff/failed-fetches';
import { EXECUTED } from '../handoff/handoff';
import { claimOn, claimOnKept } from '../handoff/kv-claim';
import { TargetSide } from '../handoff/target-side';
import { Executor, type StageWork } from './executor';

/** Submits runs to the simulated engine; those that read KV from elsewhere reserve blocks first. */
@Injectable()
export class SimulatedWork implements StageWork {
  constructor(
    private readonly options: HostOptions,
    private readonly loop: StepLoop,
    private readonly slot: EngineSlot,
    private readonly runs: RunTable,
    private readonly incoming: IncomingRuns,
    private readonly clock: LiveClock,
    private readonly target: TargetSide,
    private readonly failed: FailedFetches,
    private readonly endings: Endings,
    @Optional() private readonly kvEvents?: KvEvents,
    @Optional() private readonly faults?: FaultPlan,
  ) {}

  /** A job that arrives before its cause, because its sender had a lead, waits for that instant. */
  start(run: Run, handoff: HandoffRecord | undefined): void {
    const { clock, options, slot } = this;
    const nowUs = clock.nowUs();
    const aheadUs = Math.min(run.causeUs - nowUs, (options.resultLeadUs ?? 0) * clock.speedup);
    if (aheadUs <= 0) {
      this.startNow(run, handoff);
      return;
    }
    clock.aroundSim(nowUs + aheadUs, () => {
      if (run.state === 'running') slot.guard(() => this.startNow(run, handoff));
    });
  }

  private startNow(run: Run, handoff: HandoffRecord | undefined): void {
    switch (run.stage) {
      case 'prefill':
        return this.prefill(run);
      case 'aggregated':
        return this.enter(run, 'generate');
      case 'decode':
        return run.job.flow === 'attach' ? this.attach(run) : this.fetch(run, handoff);
      default:
        return unreachable(run.stage);
    }
  }

  /**
   * Decode can hold the beginning of the next turn's prompt. Its whole blocks are read from decode,
   * and the rest is computed.
   */
  private prefill(run: Run): void {
    const { job } = run;
    const { blockSize } = this.options.facts;
    const { target } = this;
    const params = job.kvTransferParams && parseKeptKvParams(job.kvTransferParams);
    if (params === undefined) return this.enter(run, 'prefill-and-hold');
    const common = Math.min(params.remote_num_tokens, job.promptTokens);
    const tokens = common - (common % blockSize);
    const source = sourceOf(params);
    const claim = claimOnKept(job, params.remote_block_ids ?? [], { tokens, blockSize });
    if (claim === undefined) {
      target.decline(source);
      this.enter(run, 'prefill-and-hold');
      return;
    }
    const fetching = { ...newFetching(source, claim), claimedTokens: tokens };
    this.reserve(run, fetching, () => this.submit(run, 'prefill-and-hold', tokens));
  }

  /** Submits the run before the first step that starts at or after the job's cause. */
  private enter(run: Run, mode: SequenceSpec['mode']): void {
    this.loop.enter(run.causeUs, () => {
      if (run.state === 'running') this.submit(run, mode);
    });
  }

  private fetch(run: Run, handoff: HandoffRecord | undefined): void {
    this.faults?.reached('decode-begun');
    if (handoff === undefined) {
      this.failed.onSourceGone(run);
      return;
    }
    const { params, generation, epoch } = handoff;
    if (generation === EXECUTED) {
      // The KV of the prompt is on a server that only another server can read.
      this.enter(run, 'generate');
      return;
    }
    const engineId = params.remote_engine_id ?? '';
    const source = { engineId, requestId: run.job.requestId, epoch, generation };
    this.reserve(run, newFetching(source));
  }

  /** Impossible parameters are served without a transfer, as in vLLM. */
  private attach(run: Run): void {
    const { job } = run;
    const params = parseKvTransferParams(job.kvTransferParams);
    if (!params) {
      this.enter(run, 'generate');
      return;
    }
    const source = sourceOf(params);
    const claim = claimOn(job, params.remote_block_ids ?? [], this.options.facts.blockSize);
    this.reserve(run, newFetching(source, claim));
  }

  /**
   * The sequence enters the engine even while a step is under way; it gets blocks with the next
   * step.
   */
  private reserve(
    run: Run,
    fetching: Fetching,
    submit = () => this.submit(run, 'remote-prefill'),
  ): void {
    const { target, loop } = this;
    loop.enterBetween(run.causeUs, () => {
      if (run.state !== 'running') return;
      if (submit()) target.accept(run, fetching);
      else target.reject(run, fetching);
    });
  }

  /** False when the engine can never run it, which ends the request. */
  private submit(run: Run, mode: SequenceSpec['mode'], remoteTokens?: number): boolean {
    const { slot, runs, incoming, kvEvents, endings } = this;
    kvEvents?.addJob(run.job);
    incoming.settle(run);
    const admission = slot.engine.submit(this.specOf(run, mode, remoteTokens));
    if (admission.kind === 'accepted') {
      runs.bind(run, admission.handle);
      return true;
    }
    const isTooLong = admission.why === 'exceeds-context';
    endings.failRequest(run, isTooLong ? 'context_length_exceeded' : 'kv_capacity_exceeded');
    return false;
  }

  private specOf({ job }: Run, mode: SequenceSpec['mode'], remoteTokens?: number): SequenceSpec {
    return {
      requestId: job.requestId,
      promptTokens: job.promptTokens,
      outputTokens: mode === 'prefill-and-hold' ? 1 : job.outputTokens,
      endReason: job.endReason,
      blockHashes: job.blockHashes,
      priority: job.priority,
      arrivalUs: this.clock.toSimUs(job.arrivalUs),
      mode,
      ...(remoteTokens === undefined ? {} : { remoteTokens }),
      ...(job.keepsKv ? { holdsAtEnd: true } : {}),
      ...(job.adapter === undefined ? {} : { adapter: adapterNumber(job.adapter) }),
      ...(job.engineParameters && { parameters: job.engineParameters }),
    };
  }
}

/** A run that an executor starts is no longer on its way into the engine. */
@Injectable()
export class ExecutedWork implements StageWork {
  constructor(
    private readonly incoming: IncomingRuns,
    private readonly executor: Executor,
  ) {}

  start(run: Run, handoff: HandoffRecord | undefined): void {
    this.incoming.settle(run);
    this.executor.start(run, handoff);
  }
}

/** The number of an adapter in the engine, from 1; 0 is none. */
function adapterNumber(name: string): number {
  return hashString(name) || 1;
}

/** Parameters from outside name no epoch. */
function sourceOf({ remote_engine_id, remote_request_id }: KvTransferParams): SourceName {
  const name = parseRemoteRequestId(remote_request_id ?? '');
  return {
    engineId: remote_engine_id ?? '',
    requestId: name?.requestId ?? remote_request_id ?? '',
    epoch: 0,
    generation: name?.generation ?? 0,
  };
}

function newFetching(source: SourceName, claim?: number): Fetching {
  return {
    source,
    claim,
    claimedTokens: undefined,
    reservedUs: undefined,
    missingTokens: 0,
    hasInjectedFault: false,
    isDeclined: false,
    transferStartedUs: 0,
  };
}
