import { ROLE_LETTERS } from '@baton/kernel';

/** The role of an engine in the cluster, and the queue that feeds it. */
export type EngineRole = 'prefill' | 'decode' | 'aggregated';

/** The number of engines of each role. */
export interface Topology {
  readonly prefill: number;
  readonly decode: number;
  readonly aggregated: number;
}

/**
 * Limit of engines in one cluster, over all roles: more than one machine can run, but low enough to
 * catch a typing error.
 */
export const MAX_ENGINES = 4096;

/** A topology that cannot run. The message is one line for the user with the expected form. */
export class TopologyError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TopologyError';
  }
}

const ROLES = { P: 'prefill', D: 'decode', A: 'aggregated' } as const;
type Letter = keyof typeof ROLES;

const WHOLE = /^(\d+[PDA])+$/;
const PART = /(\d+)([PDA])/g;
const EXAMPLES = 'write for example 2P3D (prefill, decode), 4A (aggregated) or 2P3D1A';

/**
 * Reads `2P3D`, `4A`, `2P3D1A`, in any order and case. A role that is left out has no engine.
 *
 * @throws TopologyError for other text, a role named twice or with 0, prefill without decode or the
 *   reverse, more than 4,096 engines
 */
export function parseTopology(text: string): Topology {
  const topology = parseEngines(text);
  refuseUnusable(topology, shorten(text));
  return topology;
}

/**
 * Reads the same notation for some engines of a cluster, which need not be able to serve alone:
 * `1P`.
 *
 * @throws TopologyError for other text, or a role named twice or with 0
 */
export function parseEngines(text: string): Topology {
  const written = text.trim().toUpperCase();
  if (!WHOLE.test(written)) {
    throw new TopologyError(`Topology "${shorten(text)}" is not understood: ${EXAMPLES}.`);
  }
  const topology = { prefill: 0, decode: 0, aggregated: 0 };
  for (const [, digits = '', letter = ''] of written.matchAll(PART)) {
    const role = ROLES[letter as Letter];
    if (topology[role] > 0) {
      throw new TopologyError(`Topology "${shorten(text)}" names ${letter} twice: ${EXAMPLES}.`);
    }
    const count = Number(digits);
    if (count === 0) {
      throw new TopologyError(
        `Topology "${shorten(text)}" asks for 0 ${role} engines: leave ${letter} out, or ` +
          'give it at least 1.',
      );
    }
    topology[role] = count;
  }
  return topology;
}

/** The canonical spelling: prefill, decode, aggregated; roles without an engine are left out. */
export function formatTopology(topology: Topology): string {
  const roles = ['prefill', 'decode', 'aggregated'] as const;
  return roles
    .map((role) => (topology[role] > 0 ? `${topology[role]}${ROLE_LETTERS[role]}` : ''))
    .join('');
}

function refuseUnusable({ prefill, decode, aggregated }: Topology, text: string): void {
  const engines = prefill + decode + aggregated;
  if (engines > MAX_ENGINES) {
    throw new TopologyError(`Topology "${text}" has more than ${MAX_ENGINES} engines.`);
  }
  if (prefill > 0 && decode === 0) {
    throw new TopologyError(
      `Topology "${text}" has prefill but no decode engines: add some (${prefill}P1D), or ` +
        `use aggregated ones (${prefill}A).`,
    );
  }
  if (decode > 0 && prefill === 0) {
    throw new TopologyError(
      `Topology "${text}" has decode but no prefill engines: add some (1P${decode}D), or ` +
        `use aggregated ones (${decode}A).`,
    );
  }
}

/** The user's text, cut so that the message stays on one line. */
function shorten(text: string): string {
  const line = text.replace(/[\p{C}\s]+/gu, ' ');
  return line.length > 40 ? `${line.slice(0, 40)}…` : line;
}
