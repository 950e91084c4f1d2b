import { createWriteStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Comparison, RunRecord, Slo, Summary } from '@baton/analysis';
import type { StepSpan } from '@baton/simulation';
import type { ComparisonReport } from '@baton/report';
import { defaultConfig, shownConfig } from '@baton/config';
import type { Workload } from '@baton/workload';
import { cannotWrite } from '../claim-output';
import { makeFolder } from '@baton/kernel';
import type { PageParts } from './page/page-file';
import type { ShadowLog, ShadowSummary } from './shadow';

export interface ResultParts {
  readonly run: RunRecord;
  readonly summary: Summary;
  readonly slo: Slo | undefined;
  readonly title: string;
  readonly subtitle: string;
  /** Steps for the trace; undefined: no trace. */
  readonly steps: readonly StepSpan[] | undefined;
  /** The comparison with a recorded run. Undefined when the run is not compared. */
  readonly compared: ComparisonReport | undefined;
  /**
   * The choices of a shadow policy and of the recorded router. Undefined without a shadow policy.
   */
  readonly shadow: ShadowLog | undefined;
  readonly workload: Workload;
  /** Whether charts are also written as images. */
  readonly svg: boolean;
  /** The cluster's facts for the live page of the run. Undefined: no page. */
  readonly page: Pick<PageParts, 'model' | 'topology'> | undefined;
}

/**
 * Writes a result to a folder, which is created if needed: `summary.json`, `requests.csv`,
 * `report.html`, and on request `trace.json`, `page.html` and one image per chart. Returns the
 * names.
 *
 * @throws Failure when a file cannot be written
 */
export function writeResultFiles(folder: string, parts: ResultParts): Promise<string[]> {
  return writeFiles(folder, contents(parts));
}

/** A file's name and its text, whole or in pieces. */
export type NamedContent = readonly [name: string, content: string | Iterable<string>];

/**
 * Writes files to a folder, which is created if needed, and returns their names.
 *
 * @throws Failure when a file cannot be written
 */
export async function writeFiles(
  folder: string,
  files: AsyncIterable<NamedContent> | Iterable<NamedContent>,
): Promise<string[]> {
  try {
    makeFolder(folder);
    const names: string[] = [];
    for await (const [name, content] of files) {
      await write(join(folder, name), content);
      names.push(name);
    }
    return names;
  } catch (error) {
    throw cannotWrite(`The result in ${folder}`, error);
  }
}

/** The summary, with the values that depend on the wall clock at the end. */
export function summaryJson(
  summary: Summary,
  beside: { comparison?: Comparison | undefined; shadow?: ShadowSummary | undefined } = {},
): string {
  const { wall_seconds, requests_per_wall_second, ...lasting } = summary;
  const wall = { wall_seconds, requests_per_wall_second };
  return `${JSON.stringify({ ...lasting, ...beside, ...wall }, null, 2)}\n`;
}

async function* contents(parts: ResultParts): AsyncGenerator<NamedContent> {
  const report = await import('@baton/report');
  const { run, summary, slo, steps } = parts;
  const { shadow } = parts;
  const beside = { comparison: parts.compared?.comparison, shadow: shadow?.summary() };
  yield ['summary.json', summaryJson(summary, beside)];
  yield ['requests.csv', report.requestCsv(run, slo)];
  if (shadow !== undefined) yield ['shadow.csv', shadow.csv(parts.workload)];
  const defaults = shownConfig(defaultConfig());
  const page = report.runReport({ ...parts, slo: slo ?? {}, defaults });
  yield ['report.html', report.htmlReport(page)];
  if (steps !== undefined) {
    yield ['trace.json', report.chromeTrace({ run, steps, requests: report.TRACED_REQUESTS })];
  }
  if (parts.page !== undefined) {
    const { pageFile } = await import('./page/page-file');
    yield ['page.html', pageFile({ run, workload: parts.workload, ...parts.page })];
  }
  if (!parts.svg) return;
  for (const section of page.sections) {
    if (section.kind !== 'lineChart' || section.xs.length === 0) continue;
    yield [`${fileNameOf(section.title)}.svg`, await report.chartSvg(section)];
  }
}

/** `KV usage, prefill` becomes `kv-usage-prefill`. */
function fileNameOf(title: string): string {
  const [short = ''] = title.split(':');
  return short.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
}

async function write(path: string, content: string | Iterable<string>): Promise<void> {
  if (typeof content === 'string') await writeFile(path, content);
  else await pipeline(Readable.from(content), createWriteStream(path));
}
