import type { BatchEntry, BatchView } from '@baton/contract';
import type { EnginePort } from '@baton/engine';
import type { EngineIdentity } from '../run/engine/engine-identity';
import type { EngineSlot } from '../run/engine/engine-slot';
import type { StepLoop } from '../run/engine/step-loop';
import type { Run, RunTable } from '../run/runs/run';

type Phase = BatchEntry['phase'];

/** Limit of requests shown per engine. */
const SHOWN = 256;

export interface BatchSources {
  readonly identity: EngineIdentity;
  readonly slot: EngineSlot;
  readonly loop: StepLoop;
  readonly runs: RunTable;
}

/** The current work of the engine. */
export function batchView({ identity, slot, loop, runs }: BatchSources): BatchView {
  const { engine } = slot;
  const now = engine.snapshot();
  const all = runs.all();
  return {
    engine_id: identity.engineId,
    name: identity.name,
    index: identity.index,
    role: identity.role,
    is_stepping: loop.isStepping,
    waiting: now.waiting + now.deferred,
    running: now.running,
    held_blocks: now.heldBlocks,
    free_blocks: now.freeBlocks,
    kv_cache_usage: now.kvUsage,
    requests: all.slice(0, SHOWN).map((run) => entryOf(run, engine)),
    omitted: Math.max(0, all.length - SHOWN),
  };
}

function entryOf(run: Run, engine: EnginePort): BatchEntry {
  const { job, handle, emitted } = run;
  const isRunning = handle >= 0 && engine.isRunning(handle);
  const computed = isRunning ? Math.min(engine.computedTokens(handle), job.promptTokens) : 0;
  return {
    id: job.requestId,
    phase: phaseOf(run, isRunning),
    input_tokens: job.promptTokens,
    cached_tokens: isRunning ? engine.cachedTokens(handle) : 0,
    generated_tokens: emitted,
    context_length: (emitted > 0 ? job.promptTokens : computed) + emitted,
  };
}

function phaseOf({ state, stage, emitted, fetching }: Run, isRunning: boolean): Phase {
  if (state === 'moving-on') return 'handing-over';
  if (isRunning) return emitted > 0 || stage === 'decode' ? 'decode' : 'prefill';
  return fetching === undefined ? 'waiting' : 'transfer';
}
