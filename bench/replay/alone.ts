import { execFileSync } from 'node:child_process';
import { besideControl } from './beside-control';
import { countsOf } from './calls';
import { clusterUserUs } from './cluster-size';

const CASES = {
  budget: (count: number, options?: string) => besideControl(count, options === 'synchronous'),
  cluster: (count: number, topology = '') => clusterUserUs(topology, count),
  counts: countsOf,
} as const;

type Cases = typeof CASES;

/** Measures a case in a process of its own, in which V8 has compiled nothing. */
export function measuredAlone<K extends keyof Cases>(
  name: K,
  ...args: Parameters<Cases[K]>
): ReturnType<Cases[K]> {
  const given = [__filename, name, ...args.map(String)];
  const text = execFileSync(process.execPath, given, { encoding: 'utf8' });
  return JSON.parse(text) as ReturnType<Cases[K]>;
}

if (require.main === module) {
  const [name, count, option] = process.argv.slice(2);
  const found = CASES[name as keyof Cases](Number(count), option);
  process.stdout.write(JSON.stringify(found));
}
