import { describe, expect, it } from 'vitest';
import { filesBelow, read, readJson } from './repository';

interface Kept {
  readonly commit?: string;
  readonly date?: string;
}

interface Bar {
  readonly figure: string;
  readonly measured: string;
  readonly bar: string;
}

const HEX = /^[0-9a-f]{7,8}\+?$/;
/** `peers.json` has a first and a last measurement, and the page a section for each. */
const results = filesBelow('bench/results').filter((path) => !path.endsWith('peers.json'));

describe('kept results', () => {
  it('carry their commit and date, and docs/benchmarks.md prints both', () => {
    expect(results.length).toBeGreaterThan(3);
    const page = read('docs/benchmarks.md');
    const wrong = results.filter((path) => {
      const { commit = '', date = '' } = readJson(path) as Kept;
      const row = page.split('\n').find((line) => line.includes(path.split('/').at(-1)!));
      return !HEX.test(commit) || !row?.includes(commit) || !row.includes(date);
    });
    expect(wrong).toEqual([]);
  });

  it('of a replay are the bars that docs/benchmarks.md prints', () => {
    const { bars } = readJson('bench/results/replay.json') as { bars: readonly Bar[] };
    const cells = (line: string): string =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .join('|');
    const page = read('docs/benchmarks.md').split('\n').map(cells);
    const rows = bars.map(({ figure, measured, bar }) =>
      cells(`| ${figure} | ${measured} | ${bar} |`),
    );
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter((row) => !page.includes(row))).toEqual([]);
  });
});
