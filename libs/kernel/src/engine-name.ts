/** The letter of each role, in topologies (`2P3D`) and in the names of engines. */
export const ROLE_LETTERS = { prefill: 'P', decode: 'D', aggregated: 'A' } as const;

type Role = keyof typeof ROLE_LETTERS;

/** The name of an engine without its number. */
export interface NameParts {
  readonly prefix: string;
  readonly suffix: string;
}

/** @param rank its data-parallel rank; unset: its engine has one */
export function nameParts(role: Role, rank?: number): NameParts {
  return { prefix: ROLE_LETTERS[role], suffix: rank === undefined ? '' : `-DP${rank}` };
}

/**
 * The name of an engine in logs, metrics, traces, reports and on the live page: `P0`, `D3`; of a
 * data-parallel rank: `D3-DP1`.
 *
 * @param number from 0, among the engines of the role
 */
export function engineName(role: Role, number: number, rank?: number): string {
  const { prefix, suffix } = nameParts(role, rank);
  return `${prefix}${number}${suffix}`;
}
