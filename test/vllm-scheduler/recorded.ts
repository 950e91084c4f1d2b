import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The steps of vLLM's scheduler for some workloads, written by `npm run test:vllm-scheduler --
 * --record`, and of its asynchronous one, written with `--async` as well.
 */
export const RECORDED = fileURLToPath(new URL('recorded.txt', import.meta.url));
export const RECORDED_ASYNC = fileURLToPath(new URL('recorded-async.txt', import.meta.url));

export interface RecordedRun {
  readonly seed: number;
  readonly steps: readonly string[];
}

/** One line per workload: its seed and its steps; `*n` after a step means n times in a row. */
export function recordedText(version: string, runs: readonly RecordedRun[]): string {
  const lines = runs.map(({ seed, steps }) => [seed, ...folded(steps)].join('|'));
  return [`vLLM ${version}`, ...lines, ''].join('\n');
}

export function recordedRuns(file: string): { version: string; runs: RecordedRun[] } {
  const [version = '', ...lines] = readFileSync(file, 'utf8').trimEnd().split('\n');
  const runs = lines.map((line) => {
    const [seed, ...steps] = line.split('|');
    return { seed: Number(seed), steps: steps.flatMap(unfolded) };
  });
  return { version, runs };
}

function folded(steps: readonly string[]): string[] {
  const texts: string[] = [];
  for (let i = 0; i < steps.length;) {
    let end = i + 1;
    while (steps[end] === steps[i]) end++;
    texts.push(end === i + 1 ? steps[i]! : `${steps[i]}*${end - i}`);
    i = end;
  }
  return texts;
}

function unfolded(text: string): string[] {
  const [step = '', times = '1'] = text.split('*');
  return Array.from({ length: Number(times) }, () => step);
}
