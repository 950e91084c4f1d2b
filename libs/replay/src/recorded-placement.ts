import type { RecordedPlacement } from '@baton/simulation';
import { UsageError } from '@baton/config';
import type { EngineRole, Topology } from '@baton/policies';
import type { MeasuredRequest } from '@baton/workload';

const ROLES: readonly EngineRole[] = ['prefill', 'decode', 'aggregated'];
const NOWHERE = 0;

/** Collects the engines of recorded requests, and maps them to the engines of a topology. */
export class PlacementGatherer {
  /** Numbers of engines from 1 by name, in the order of their first appearance. */
  private readonly numbers = new Map<string, number>();
  /** Engine numbers by row; `NOWHERE` where the request did not run. */
  private readonly first: Uint16Array;
  private readonly second: Uint16Array;

  constructor(rows: number) {
    this.first = new Uint16Array(rows);
    this.second = new Uint16Array(rows);
  }

  add(row: number, { prefillEngine, decodeEngine }: MeasuredRequest): void {
    this.first[row] = this.numberOf(prefillEngine);
    this.second[row] = this.numberOf(decodeEngine);
  }

  /**
   * The placement on a topology, from complete requests. When there were more engines than the
   * topology has, several map to one.
   *
   * @throws UsageError when the topology has no engine of a used role
   */
  on(topology: Topology): RecordedPlacement {
    const roles = this.roles();
    const indices = indicesIn(roles, topology);
    const columns = {
      prefill: new Int16Array(this.first.length).fill(-1),
      decode: new Int16Array(this.first.length).fill(-1),
      aggregated: new Int16Array(this.first.length).fill(-1),
    };
    for (let row = 0; row < this.first.length; row++) {
      const [first, second] = [this.first[row]!, this.second[row]!];
      if (first === NOWHERE || second === NOWHERE) continue;
      for (const number of [first, second]) {
        columns[roles.get(number)!][row] = indices.get(number)!;
      }
    }
    return columns;
  }

  /**
   * An engine that has received handed-over prompts is a decode engine, even if it computes prompts
   * too.
   */
  private roles(): ReadonlyMap<number, EngineRole> {
    const roles = new Map<number, EngineRole>();
    for (let row = 0; row < this.first.length; row++) {
      const [first, second] = [this.first[row]!, this.second[row]!];
      if (first === NOWHERE || second === NOWHERE) continue;
      if (first === second && !roles.has(first)) roles.set(first, 'aggregated');
      if (first === second) continue;
      roles.set(first, 'prefill');
      roles.set(second, 'decode');
    }
    return roles;
  }

  private numberOf(name: string | undefined): number {
    if (name === undefined) return NOWHERE;
    const number = this.numbers.get(name) ?? this.numbers.size + 1;
    this.numbers.set(name, number);
    return number;
  }
}

function indicesIn(
  roles: ReadonlyMap<number, EngineRole>,
  topology: Topology,
): ReadonlyMap<number, number> {
  const indices = new Map<number, number>();
  for (const role of ROLES) {
    const numbers = [...roles.keys()].filter((number) => roles.get(number) === role);
    const count = topology[role];
    if (numbers.length > 0 && count === 0) {
      throw new UsageError(
        `--placement recorded: requests ran on ${role} engines, but the topology has none.`,
      );
    }
    for (const [i, number] of numbers.entries()) indices.set(number, i % count);
  }
  return indices;
}
