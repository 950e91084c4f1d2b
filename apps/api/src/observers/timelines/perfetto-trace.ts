import { IntervalHistogram, NEVER, RequestLog, type EngineRecord } from '@baton/analysis';
import type { RequestTimeline, SequenceTimeline, TimelineEngine } from '@baton/contract';
import { chromeTrace, type TracedSteps } from '@baton/report';

/**
 * A timeline as a trace for ui.perfetto.dev and chrome://tracing: the phases of each sequence, and
 * its steps on each engine.
 */
export function perfettoTrace(timeline: RequestTimeline): string {
  const { sequences } = timeline;
  const engines = enginesOf(sequences);
  const log = new RequestLog(sequences.length);
  for (const [row, sequence] of sequences.entries()) fillRow(log, row, { sequence, engines });
  const none = new Float32Array(0);
  const series = {
    startUs: 0,
    intervalUs: 1,
    samples: 0,
    running: none,
    waiting: none,
    fetching: none,
    kvUsage: none,
    heldBlocks: none,
  };
  const run = {
    log,
    engines: engines.map(engineRecord),
    series,
    itl: new IntervalHistogram(),
    lives: [],
    endUs: timeline.duration_us,
    steps: 0,
    events: 0,
  };
  const steps = sequences.flatMap((sequence) => stepsOf(sequence, engines));
  return [...chromeTrace({ run, steps, requests: sequences.length })].join('');
}

interface Row {
  readonly sequence: SequenceTimeline;
  readonly engines: readonly TimelineEngine[];
}

function fillRow(log: RequestLog, row: number, { sequence, engines }: Row): void {
  const phase = (name: string): { start: number; end: number } => {
    const span = sequence.phases.find((each) => each.name === name);
    return { start: span?.start_us ?? NEVER, end: span?.end_us ?? NEVER };
  };
  const indexOf = (engine: TimelineEngine | null): number =>
    engines.findIndex(({ id }) => id === engine?.id);
  log.promptTokens[row] = sequence.prompt_tokens;
  log.emittedTokens[row] = sequence.output_tokens;
  log.cachedTokens[row] = sequence.cached_tokens;
  log.transferredTokens[row] = sequence.transferred_tokens;
  log.prefillEngine[row] = indexOf(sequence.prefill_engine);
  log.decodeEngine[row] = indexOf(sequence.decode_engine);
  log.arrivalUs.set(row, 0);
  log.prefillStartUs.set(row, phase('prefill').start);
  log.heldUs.set(row, phase('hold').start);
  log.transferStartUs.set(row, phase('transfer').start);
  log.transferEndUs.set(row, phase('transfer').end);
  log.firstTokenUs.set(row, phase('decode').start);
  log.finishUs.set(row, phase('decode').end);
}

function enginesOf(sequences: readonly SequenceTimeline[]): TimelineEngine[] {
  const all = sequences.flatMap(({ prefill_engine: p, decode_engine: d }) => [p, d]);
  const byId = new Map(all.flatMap((engine) => (engine === null ? [] : [[engine.id, engine]])));
  return [...byId.values()];
}

function engineRecord({ name }: TimelineEngine): EngineRecord {
  return {
    engineId: name,
    role: 'aggregated',
    gpus: 0,
    numBlocks: 0,
    maxNumSeqs: 0,
    maxNumBatchedTokens: 0,
    steps: 0,
    busyUs: 0,
    prefillBusyUs: 0,
    upUs: 0,
    promptTokensComputed: 0,
    promptTokensCached: 0,
    promptTokensTransferred: 0,
    prefixQueriesTokens: 0,
    prefixHitsTokens: 0,
    generatedTokens: 0,
    preemptions: 0,
    finished: 0,
    runningMean: 0,
    kvTransferBytes: 0,
    kvUsageMean: 0,
    kvUsageMax: 0,
    leaseExpiries: 0,
  };
}

/**
 * Prompt chunks go to the engine that computed them, rows of steps to the engine that generated,
 * each row from the end of the one before.
 */
function stepsOf(sequence: SequenceTimeline, engines: readonly TimelineEngine[]): TracedSteps[] {
  const { prefill_engine, decode_engine, prefill_chunks, phases, steps } = sequence;
  const on = (engine: TimelineEngine | null): number =>
    engines.findIndex(({ id }) => id === engine?.id);
  const chunks = prefill_chunks.map(({ start_us, end_us, tokens = 0 }) => ({
    engine: on(prefill_engine),
    startUs: start_us,
    endUs: end_us ?? start_us,
    steps: 1,
    promptTokens: tokens,
    generatedTokens: 0,
  }));
  let fromUs = phases.find(({ name }) => name === 'decode_wait')?.start_us;
  let before = 0;
  const rows = steps.rows.map(([atUs, tokens]) => {
    const span = {
      engine: on(decode_engine),
      startUs: fromUs ?? atUs,
      endUs: atUs,
      steps: steps.per_row,
      promptTokens: 0,
      generatedTokens: tokens - before,
    };
    fromUs = atUs;
    before = tokens;
    return span;
  });
  return [...chunks, ...rows];
}
