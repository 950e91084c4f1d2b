import { RandomStream } from '@baton/kernel';
import { buildLengthModel, type LengthSpec } from '../length-model';

const KEYS = 2 ** 53;

/** The random stream of a generated workload for one purpose: the only source of its randomness. */
export function workloadStream(seed: number, purpose: string): RandomStream {
  return RandomStream.root(seed).stream('workload').stream(purpose);
}

/** Draws length number i for a purpose. It depends only on spec, seed, purpose and i. */
export function lengthsFor(spec: LengthSpec, seed: number, purpose: string): (i: number) => number {
  const model = buildLengthModel(spec);
  const key = workloadStream(seed, purpose).integer(KEYS);
  return (i) => model(key, i);
}
