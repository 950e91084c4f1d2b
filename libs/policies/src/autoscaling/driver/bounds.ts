import {
  formatTopology,
  parseEngines,
  type Topology,
  TopologyError,
} from '../../placement/topology/topology';
import type { ScaleBounds } from '../policy';
import { ROLES } from '../sample';

/** An autoscaler that cannot be read or run. The message is one line for the user. */
export class AutoscalerError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AutoscalerError';
  }
}

/**
 * Reads the bounds of `--min 1P1D --max 8P16D`. The default minimum is one engine of each role of
 * the maximum. Without an engine, the requests of a role would wait forever.
 *
 * @throws AutoscalerError for other text, or a minimum that is not within the maximum
 */
export function parseBounds(min: string | undefined, max: string): ScaleBounds {
  const most = read('max', max);
  const one = (role: keyof Topology): number => Math.min(1, most[role]);
  const ones = { prefill: one('prefill'), decode: one('decode'), aggregated: one('aggregated') };
  const least = min === undefined ? ones : read('min', min);
  for (const role of ROLES) {
    if (least[role] > 0 === most[role] > 0 && least[role] <= most[role]) continue;
    throw new AutoscalerError(
      `min ${formatTopology(least)} does not fit max ${formatTopology(most)}. Name the same ` +
        `roles in both, and no more ${role} engines in min than in max.`,
    );
  }
  if (most.prefill > 0 !== most.decode > 0) {
    throw new AutoscalerError(
      `max ${formatTopology(most)}: prefill and decode engines need each other; write for ` +
        'example 8P16D or 8A.',
    );
  }
  return { min: least, max: most };
}

function read(name: string, text: string): Topology {
  try {
    return parseEngines(text);
  } catch (error) {
    if (!(error instanceof TopologyError)) throw error;
    throw new AutoscalerError(`${name}: ${error.message}`);
  }
}

/**
 * Whether a cluster can start with these engines.
 *
 * @throws AutoscalerError
 */
export function checkStart(start: Topology, { min, max }: ScaleBounds): void {
  if (ROLES.every((role) => start[role] >= min[role] && start[role] <= max[role])) return;
  throw new AutoscalerError(
    `The topology ${formatTopology(start)} is not within min ${formatTopology(min)} and max ` +
      `${formatTopology(max)}.`,
  );
}
