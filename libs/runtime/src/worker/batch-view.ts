import type { BatchEntry, BatchView } from '@baton/contract';
import type { HostContext } from './host-context';
import type { Run } from './run';

/** Requests of one engine that are shown. */
const SHOWN = 256;

/** What the engine has in hand now. */
export function batchView(context: HostContext, index: number): BatchView {
  const { engine, engineId, loop, options, runs } = context;
  const now = engine.snapshot();
  const all = runs.all();
  return {
    engine_id: engineId,
    index,
    role: options.role,
    is_stepping: loop.isStepping,
    waiting: now.waiting + now.deferred,
    running: now.running,
    held_blocks: now.heldBlocks,
    free_blocks: now.freeBlocks,
    kv_cache_usage: now.kvUsage,
    requests: all.slice(0, SHOWN).map((run) => entryOf(run, context)),
    omitted: Math.max(0, all.length - SHOWN),
  };
}

function entryOf(run: Run, { engine }: HostContext): BatchEntry {
  const { job, handle, emitted } = run;
  const isIn = handle >= 0 && run.isScheduled;
  const computed = isIn ? Math.min(engine.computedTokens(handle), job.promptTokens) : 0;
  return {
    id: job.requestId,
    phase: phaseOf(run, computed),
    input_tokens: job.promptTokens,
    cached_tokens: isIn ? engine.cachedTokens(handle) : 0,
    generated_tokens: emitted,
    context_length: (emitted > 0 ? job.promptTokens : computed) + emitted,
  };
}

function phaseOf(run: Run, computed: number): BatchEntry['phase'] {
  if (run.state === 'moving-on') return 'handing-over';
  if (run.emitted > 0) return 'decode';
  if (run.isScheduled) return computed < run.job.promptTokens ? 'prefill' : 'decode';
  return run.fetching === undefined ? 'waiting' : 'transfer';
}
