import { join } from 'node:path';
import { lastSegment } from '@baton/kernel';
import type { BenchmarkReport } from '@baton/report';
import { type NamedContent, writeFiles } from '../replay/result-files';
import { say } from '../say';
import type { PreparedBench } from './prepare-bench';
import { requestRateOf, type ResultDocument } from './result-document';

/** Writes the requested files and prints their names. */
export async function saveResult(
  prepared: PreparedBench,
  document: ResultDocument,
  report: BenchmarkReport,
): Promise<void> {
  const { saveResult: isSaved, resultDir, out } = prepared.flags.result;
  if (isSaved) {
    const name = fileNameOf(prepared, String(document['date']));
    await writeFiles(resultDir, only([name, `${JSON.stringify(document)}\n`]));
    say(`wrote ${join(resultDir, name)}`);
  }
  if (out === undefined) return;
  const names = await writeFiles(out, contents(document, report));
  say(`wrote ${names.join(', ')} into ${out}`);
}

async function* only(file: NamedContent): AsyncGenerator<NamedContent> {
  yield await Promise.resolve(file);
}

async function* contents(
  document: ResultDocument,
  report: BenchmarkReport,
): AsyncGenerator<NamedContent> {
  const { benchmarkReport, htmlReport, requestCsv } = await import('@baton/report');
  yield ['result.json', `${JSON.stringify(document, null, 2)}\n`];
  yield ['requests.csv', requestCsv(report.run, report.slo)];
  yield ['report.html', htmlReport(benchmarkReport(report))];
}

/** The file name of `vllm bench serve`: `openai-infqps-concurrency8-model-20260821-134501.json`. */
function fileNameOf(prepared: PreparedBench, date: string): string {
  const { flags, model } = prepared;
  const { resultFilename, label } = flags.result;
  if (resultFilename !== undefined) return resultFilename;
  const rate = requestRateOf(prepared);
  const rateText = rate === Infinity ? 'inf' : (rate ?? 'trace');
  const concurrency =
    flags.maxConcurrency === undefined ? '' : `-concurrency${flags.maxConcurrency}`;
  const name = label ?? flags.server.backend;
  return `${name}-${rateText}qps${concurrency}-${lastSegment(model)}-${date}.json`;
}
