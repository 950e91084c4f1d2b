import { type JsonFields, isObject } from '@baton/kernel';
import { decodeStep, type MeasuredStep, prefillStep } from '../fits/measured-step';
import { UsageError } from '@baton/config';
import { type KvTransfer, type Measured, measuredNumber } from './measured';

const SECTIONS = ['prefill', 'kv_transfer', 'decode'];

/**
 * The points of xPyD-sim's `calibrate`: `prefill` and `kv_transfer` with `batch_size` (in tokens)
 * and `delay_ms`, `decode` with `batch_size`, `context_length` and `delay_per_token_ms`. A prefill
 * point counts as one prompt.
 */
export function readXpydPoints(path: string, document: unknown): Measured {
  if (!isObject(document)) throw new UsageError(`${path} is not a mapping of points.`);
  const unknown = Object.keys(document).find((key) => !SECTIONS.includes(key));
  if (unknown !== undefined) {
    throw new UsageError(`${path}: unknown section '${unknown}'; use ${SECTIONS.join(', ')}.`);
  }
  const steps: MeasuredStep[] = [
    ...pointsOf(path, document, 'prefill').map(({ number }) =>
      prefillStep({ tokens: number('batch_size'), ms: number('delay_ms') }),
    ),
    ...pointsOf(path, document, 'decode').map(({ number }) => {
      const sequences = number('batch_size');
      return decodeStep(
        sequences,
        sequences * number('context_length'),
        number('delay_per_token_ms'),
      );
    }),
  ];
  const transfers: KvTransfer[] = pointsOf(path, document, 'kv_transfer').map(({ number }) => ({
    tokens: number('batch_size'),
    ms: number('delay_ms'),
  }));
  return { steps, notes: [], transfers };
}

interface Point {
  /** @throws UsageError when the point has no number above 0 in this field */
  number(key: string): number;
}

function pointsOf(path: string, document: JsonFields, section: string): Point[] {
  const points = document[section] ?? [];
  if (!Array.isArray(points)) {
    throw new UsageError(`${path}: ${section} must be a list of points.`);
  }
  return points.map((point: unknown, i) => ({
    number: (key) =>
      measuredNumber(
        isObject(point) ? point[key] : undefined,
        `${path}: ${key} of point ${i + 1} in ${section}`,
        0,
      ),
  }));
}
