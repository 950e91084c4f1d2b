import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { isObject, reasonOf } from '@baton/kernel';
import { UsageError } from '@baton/config';
import { parse, YAMLError } from 'yaml';
import { readAiperfCsv, readAiperfRecords, readAiperfSummary } from '../formats/aiperf';
import { FORMATS, type InputFormat } from '../formats/formats';
import { readGridCsv } from '../formats/grid-csv';
import { readGuidellm } from '../formats/guidellm';
import { readInferenceX } from '../formats/inferencex';
import type { InputOptions, Measured, ReadInput } from '../formats/measured';
import { readStepLog } from '../formats/step-log-file';
import { readVllmBench } from '../formats/vllm-bench';
import { readXpydPoints } from '../formats/xpyd-points';

const BYTES_MAX = 256 * 2 ** 20;

/**
 * Reads one file of measurements, in the given or the detected format.
 *
 * @throws UsageError, one sentence with file and, if known, line
 */
export function readInput(
  path: string,
  format: InputFormat | undefined,
  options: InputOptions,
): ReadInput {
  const text = fileText(path);
  const source = { path, text, documents: lazily(() => parseDocuments(path, text)) };
  const known = format ?? formatOf(source);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const date = statSync(path).mtime.toISOString().slice(0, 10);
  return { ...READERS[known](source, options), format: known, file: { sha256, date } };
}

interface Source {
  readonly path: string;
  readonly text: string;
  /** The JSON documents of the file, one per line or one in all, or its YAML document. */
  readonly documents: () => readonly unknown[];
}

const READERS: Readonly<Record<InputFormat, (source: Source, options: InputOptions) => Measured>> =
  {
    csv: ({ path, text }, options) => readGridCsv(path, text, options),
    xpyd: ({ path, documents }) => readXpydPoints(path, documents()[0]),
    'vllm-bench': ({ path, documents }, options) => readVllmBench(path, documents(), options),
    guidellm: ({ path, documents }, options) => readGuidellm(path, documents()[0], options),
    aiperf: readAiperf,
    inferencex: ({ path, documents }) => readInferenceX(path, documents()),
    'baton-log': ({ path, text }, options) => readStepLog(path, text, options),
  };

function readAiperf({ path, text, documents }: Source, options: InputOptions): Measured {
  if (isAiperfCsv(text)) return readAiperfCsv(path, text);
  const [first] = documents();
  const isSummary = isObject(first) && !('metadata' in first);
  return isSummary ? readAiperfSummary(path, first) : readAiperfRecords(path, documents(), options);
}

function formatOf({ path, text, documents }: Source): InputFormat {
  if (isAiperfCsv(text)) return 'aiperf';
  if (/^\uFEFF?\s*\w+(\s*,\s*\w+)+\s*(\r?\n|$)/.test(text)) return 'csv';
  const [head] = documents();
  const first: unknown = Array.isArray(head) ? (head as unknown[])[0] : head;
  if (isObject(first)) {
    const has = (...keys: readonly string[]) => keys.some((key) => key in first);
    if (has('step_ms')) return 'baton-log';
    if (has('conc') && has('isl') && has('osl')) return 'inferencex';
    if (has('benchmarks')) return 'guidellm';
    if (has('input_sequence_length') || (has('metadata') && has('metrics'))) return 'aiperf';
    if (has('input_lens', 'median_itl_ms', 'mean_ttft_ms', 'completed')) return 'vllm-bench';
    if (has('prefill', 'decode', 'kv_transfer')) return 'xpyd';
  }
  throw new UsageError(
    `${path} looks like none of the known formats; name it with --format ${FORMATS.join('|')}.`,
  );
}

function isAiperfCsv(text: string): boolean {
  return /^\s*Metric,/.test(text);
}

function parseDocuments(path: string, text: string): readonly unknown[] {
  if (!/^\s*[{[]/.test(text)) return [yamlOf(path, text)];
  try {
    return [JSON.parse(text)];
  } catch {
    return parseLines(path, text);
  }
}

/** One JSON document per line, the form of appended results and records. */
function parseLines(path: string, text: string): unknown[] {
  return text.split(/\r?\n/).flatMap((line, i): unknown[] => {
    if (line.trim() === '') return [];
    try {
      return [JSON.parse(line)];
    } catch {
      throw new UsageError(`${path}:${i + 1} is not a JSON document. Correct or remove this line.`);
    }
  });
}

function yamlOf(path: string, text: string): unknown {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof YAMLError)) throw error;
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
}

function fileText(path: string): string {
  try {
    if (statSync(path).size <= BYTES_MAX) return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`${path} cannot be read: ${reasonOf(error)}.`);
  }
  throw new UsageError(`${path} is larger than ${BYTES_MAX / 2 ** 20} MiB; give a part of it.`);
}

function lazily<T>(make: () => T): () => T {
  let memo: { readonly value: T } | undefined;
  return () => (memo ??= { value: make() }).value;
}
