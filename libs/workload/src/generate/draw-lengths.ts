import { RandomStream } from '@baton/kernel';
import { buildLengthModel, type LengthSpec } from '../length-model';

const KEYS = 2 ** 53;

/** Where all chance of generated workloads comes from, by purpose. */
export function workloadStream(seed: number, purpose: string): RandomStream {
  return RandomStream.root(seed).stream('workload').stream(purpose);
}

/** Length number i for a purpose; it depends on nothing but spec, seed, purpose and i. */
export function lengthsFor(spec: LengthSpec, seed: number, purpose: string): (i: number) => number {
  const model = buildLengthModel(spec);
  const key = workloadStream(seed, purpose).integer(KEYS);
  return (i) => model(key, i);
}
