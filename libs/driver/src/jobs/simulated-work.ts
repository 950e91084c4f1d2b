import { parseKeptKvParams, parseKvTransferParams } from '@baton/contract';
import type { SequenceSpec } from '@baton/engine';
import { unreachable } from '@baton/kernel';
import type { HandoffRecord } from '@baton/transport';
import type { FailedFetches } from '../handoff/failed-fetches';
import { EXECUTED } from '../handoff/handoff';
import type { TargetSide } from '../handoff/target-side';
import type { HostOptions } from '../host/host-options';
import type { StepLoop } from '../steps/step-loop';
import type { EngineEntry } from './engine-entry';
import type { FaultPlan } from './fault-plan';
import { newFetching, sourceOf } from './fetching';
import { claimOn, claimOnKept } from './kv-reference';
import type { Fetching, Run } from './run';
import type { StageWork } from './run-start';

export interface SimulatedWorkParts {
  readonly options: Pick<HostOptions, 'facts'>;
  readonly loop: StepLoop;
  readonly entry: EngineEntry;
  readonly target: TargetSide;
  readonly failed: FailedFetches;
  readonly faults: FaultPlan;
}

/**
 * Brings runs into the simulated engine; those that read KV from elsewhere reserve blocks first.
 */
export class SimulatedWork implements StageWork {
  constructor(private readonly parts: SimulatedWorkParts) {}

  start(run: Run, handoff: HandoffRecord | undefined): void {
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
   * The beginning of a next turn's prompt may lie in decode: whole blocks of it are read from
   * there, and the rest is computed.
   */
  private prefill(run: Run): void {
    const { job } = run;
    const { blockSize } = this.parts.options.facts;
    const { entry, target } = this.parts;
    const params = parseKeptKvParams(job.kvTransferParams);
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
    if (entry.submit(run, 'prefill-and-hold', tokens)) target.accept(run, fetching);
    else target.reject(run, fetching);
  }

  /** Into the engine before the first step that starts at or after the job's cause. */
  private enter(run: Run, mode: SequenceSpec['mode']): void {
    this.parts.loop.enter(run.causeUs, () => {
      if (run.state === 'running') this.parts.entry.submit(run, mode);
    });
  }

  private fetch(run: Run, handoff: HandoffRecord | undefined): void {
    this.parts.faults.reached('decode-begun');
    if (handoff === undefined) {
      this.parts.failed.onSourceGone(run);
      return;
    }
    const { params, generation, epoch } = handoff;
    if (generation === EXECUTED) {
      // Its prompt lies in a server that only another server can read.
      this.enter(run, 'generate');
      return;
    }
    const engineId = params.remote_engine_id ?? '';
    const source = { engineId, requestId: run.job.requestId, epoch, generation };
    this.reserve(run, newFetching(source));
  }

  /** Parameters that no source can have made are served without a transfer, as vLLM does. */
  private attach(run: Run): void {
    const { job } = run;
    const params = parseKvTransferParams(job.kvTransferParams);
    if (!params) {
      this.enter(run, 'generate');
      return;
    }
    const source = sourceOf(params);
    const claim = claimOn(job, params.remote_block_ids ?? [], this.parts.options.facts.blockSize);
    this.reserve(run, newFetching(source, claim));
  }

  /** Into the engine at once, whatever it does: blocks come with its next step. */
  private reserve(run: Run, fetching: Fetching): void {
    const { entry, target } = this.parts;
    if (entry.submit(run, 'remote-prefill')) target.accept(run, fetching);
    else target.reject(run, fetching);
  }
}
