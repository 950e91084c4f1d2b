import { type BenchmarkFigures, benchmarkFigures, type Summary } from '@baton/analysis';
import { Failure } from '@baton/kernel';
import {
  HttpStreams,
  lateEngines,
  type LoadRecord,
  readServerFigures,
  runLoad,
  stepTimesBetween,
  withVerdicts,
} from '@baton/loadgen';
import { WorkloadBuilder } from '@baton/workload';
import { shippedTracesText, wantsTraceList } from '@baton/replay';
import { claimFolder } from '../claim-output';
import { EXIT_CODES } from '../exit-codes';
import { openProgress } from '../progress';
import { say } from '../say';
import { StopRequests } from '../up/stop-requests';
import { type BenchFlags, type Given, readBenchFlags } from './bench-flags';
import { prepareBench, type PreparedBench } from './prepare-bench';
import {
  type MeasuredLoad,
  requestRateOf,
  type ResultDocument,
  resultDocument,
  settingsOf,
} from './result-document';
import { saveResult } from './save-result';
import { headersOf } from './slo-classes';

/**
 * `baton bench`: sends a workload to a server and prints the measured latencies on stdout (a table,
 * or one JSON document); writes files when flags name them. Ctrl-C ends the run with the results so
 * far. Returns the exit code.
 */
export async function bench(given: Given): Promise<number> {
  const flags = readBenchFlags(given);
  if (wantsTraceList(flags.workload)) {
    process.stdout.write(shippedTracesText());
    return 0;
  }
  const stops = new StopRequests();
  stops.second.addEventListener('abort', () => process.exit(1));
  try {
    return (await runBench(flags, stops.first)).exitCode;
  } finally {
    stops.stopListening();
  }
}

export interface BenchOutcome {
  readonly exitCode: number;
  readonly document: ResultDocument;
}

/** Like `bench`, with parsed flags and a signal that ends the run. */
export async function runBench(flags: BenchFlags, stop: AbortSignal): Promise<BenchOutcome> {
  claimResult(flags);
  const { prepared, record, figures } = await measure(flags, stop);
  const document = await printResult(prepared, record, figures);
  return { document, exitCode: exitCodeOf(record, figures) };
}

/** Like `runBench`, for a result that is neither printed nor written. */
export async function quietBench(flags: BenchFlags, stop: AbortSignal): Promise<BenchOutcome> {
  const { prepared, record, figures } = await measure(flags, stop);
  const document = resultDocument(prepared, record, figures);
  return { document, exitCode: exitCodeOf(record, figures) };
}

interface Measured {
  readonly prepared: PreparedBench;
  readonly record: MeasuredLoad;
  readonly figures: BenchmarkFigures;
}

async function measure(flags: BenchFlags, stop: AbortSignal): Promise<Measured> {
  const prepared = await prepareBench(flags, stop);
  for (const note of prepared.notes) say(note);
  const record = await loaded(prepared, stop);
  return { prepared, record, figures: benchmarkFigures(record.run, flags) };
}

function exitCodeOf(
  { run, wasInterrupted }: MeasuredLoad,
  { completed }: BenchmarkFigures,
): number {
  if (wasInterrupted || completed === 0) return EXIT_CODES.incomplete;
  return run.lateness.void === null ? EXIT_CODES.done : EXIT_CODES.void;
}

/** Checks before the run that the result can be written. */
export function claimResult({ result }: BenchFlags): void {
  claimFolder(result.out, '--out');
  if (result.saveResult) claimFolder(result.resultDir, '--result-dir');
}

async function loaded(prepared: PreparedBench, stop: AbortSignal): Promise<MeasuredLoad> {
  const { flags } = prepared;
  const { origin, prefix, endpoint, headers, protocol } = flags.server;
  const streams = new HttpStreams({ origin, path: prefix + endpoint, headers, protocol });
  try {
    await warmUp(prepared, streams, stop);
    const before = await readServerFigures(flags.server);
    const record = await measured(prepared, streams, stop);
    const after = await readServerFigures(flags.server);
    const late = lateEngines(before.stepLags, after.stepLags);
    const { lateness } = record.run;
    const { void: reason, void_figures: figures } = lateness;
    const verdicts = reason === null ? late : [{ reason, figures }, ...late];
    return {
      ...record,
      run: { ...record.run, lateness: withVerdicts(lateness, verdicts) },
      stepTimes: stepTimesBetween(before.stepTimes, after.stepTimes),
    };
  } finally {
    await streams.close();
  }
}

async function warmUp(
  { flags, writer, requestIdPrefix }: PreparedBench,
  streams: HttpStreams,
  stop: AbortSignal,
): Promise<void> {
  if (flags.numWarmups === 0) return;
  const builder = new WorkloadBuilder();
  for (let i = 0; i < flags.numWarmups; i++) {
    builder.add({ arrivalUs: 0, promptTokens: 1, outputTokens: 1 });
  }
  const { run } = await runLoad({
    workload: builder.build(),
    streams,
    signal: stop,
    bodyOf: (i) => writer.warmUpBody(i),
    keepsText: () => false,
    keepsDetails: false,
    maxConcurrency: flags.maxConcurrency ?? Infinity,
    deadlineMs: flags.deadlineMs,
    idPrefix: `${requestIdPrefix}warm-up-`,
  });
  const [failure] = run.failures;
  if (failure === undefined) return;
  throw new Failure(`The warm-up failed: ${failure.error}: ${failure.example}`);
}

async function measured(
  { flags, writer, loaded: { workload }, requestIdPrefix }: PreparedBench,
  streams: HttpStreams,
  stop: AbortSignal,
): Promise<LoadRecord> {
  const { saveDetailed, hasBar } = flags.result;
  const progress = hasBar ? await openProgress('bench') : undefined;
  try {
    return await runLoad({
      workload,
      streams,
      signal: stop,
      bodyOf: (row) => writer.body(row),
      placeOf: (row) => writer.place(row),
      headersOf: (row) => headersOf(workload, row),
      keepsText: (row) => saveDetailed || writer.needsAnswer(row),
      onText: (row, text) => writer.answered(row, text),
      maxConcurrency: flags.maxConcurrency ?? Infinity,
      deadlineMs: flags.deadlineMs,
      keepsDetails: saveDetailed,
      idPrefix: requestIdPrefix,
      onProgress: (ended) => progress?.update(ended, workload.count),
    });
  } finally {
    progress?.endProgress();
  }
}

/** The causes in place of figures, which would all be 0. */
function sayNoneCompleted({ run, wasInterrupted }: MeasuredLoad): void {
  const causes = run.failures.map(
    ({ error, count, example }) => `${count} × ${error}: ${example.replaceAll(/\s+/g, ' ')}`,
  );
  say(
    [wasInterrupted ? 'Interrupted.' : '', 'No request was completed.', causes.join('; ')]
      .join(' ')
      .trim(),
  );
}

async function printResult(
  prepared: PreparedBench,
  record: MeasuredLoad,
  figures: BenchmarkFigures,
): Promise<ResultDocument> {
  const { flags, loaded: source, model } = prepared;
  const { run } = record;
  const document = resultDocument(prepared, record, figures);
  if (flags.result.json) process.stdout.write(`${JSON.stringify(document, null, 2)}\n`);
  else if (figures.completed > 0) {
    const { classTable, consoleBenchmark, stepTimesLines, wrapWords } =
      await import('@baton/report');
    const { maxConcurrency, percentiles } = flags;
    const requestRate = requestRateOf(prepared);
    process.stdout.write(
      consoleBenchmark({
        run,
        figures,
        percentiles,
        slo: flags.slo,
        maxConcurrency,
        requestRate,
      }) +
        classTable(document['slo_classes'] as Summary['slo_classes']) +
        stepTimesLines(record.stepTimes)
          .map((line) => wrapWords(`Step times: ${line}`))
          .join(''),
    );
  }
  if (figures.completed === 0) sayNoneCompleted(record);
  else if (record.wasInterrupted) {
    say('interrupted: the figures cover only the requests that had ended');
  }
  if (run.lateness.void !== null && figures.completed > 0) {
    const { lateFiguresText } = await import('@baton/report');
    const { lateness } = run;
    say(
      `void: ${lateFiguresText(lateness)}, because ${lateness.void}. ` +
        'Figures without VOID are valid. Repeat the run on a less busy machine, at a lower rate, or with a cluster at half ' +
        'speed (baton up --speedup 0.5, and half the rate: its times are then twice as long)',
    );
  }
  const { origin, prefix } = flags.server;
  await saveResult(prepared, document, {
    run,
    figures,
    slo: flags.slo,
    settings: settingsOf(prepared),
    title: `Bench of ${model} with ${source.source.name}`,
    subtitle:
      `${origin}${prefix}${flags.server.endpoint}, ${source.workload.count} requests, ` +
      'seed ' +
      `${flags.seed}`,
  });
  return document;
}
