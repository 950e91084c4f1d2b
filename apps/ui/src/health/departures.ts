import type { PictureEngine } from '@baton/contract';
import { startedWith } from '../cluster-model';

type Role = PictureEngine['role'];

export interface Departed {
  readonly name: string;
  readonly role: Role;
  readonly atMs: number;
}

/** Time for which a replaced engine is kept, in ms. */
const REMEMBER_MS = 30_000;

/** Engines that left without a visible order. An idle engine may drain between two pictures. */
export class Departures {
  /** Departed engines of roles that have fewer engines than at the start. */
  lost: readonly Departed[] = [];
  /** Departed engines of roles that are complete again. */
  replaced: readonly Departed[] = [];
  private departed: readonly Departed[] = [];
  private readonly ordered = new Set<string>();
  private before: readonly PictureEngine[] = [];

  /** Records that the reader has ordered this engine to leave or to change its role. */
  expect(id: string): void {
    this.ordered.add(id);
  }

  /** @param topology at the start */
  update(engines: readonly PictureEngine[], atMs: number, topology: string): void {
    const now = new Set(engines.map(({ id }) => id));
    const gone = this.before.filter(
      ({ id, state }) => !now.has(id) && state !== 'draining' && !this.ordered.has(id),
    );
    const isShort = ({ role }: Departed): boolean =>
      engines.filter((engine) => engine.role === role).length < startedWith(topology, role);
    const news = gone.map(({ name, role }) => ({ name, role, atMs }));
    this.departed = [...this.departed, ...news].filter(
      (each) => isShort(each) || atMs - each.atMs < REMEMBER_MS,
    );
    this.lost = this.departed.filter(isShort);
    this.replaced = this.departed.filter((each) => !isShort(each));
    this.before = engines;
  }

  clear(): void {
    this.lost = [];
    this.replaced = [];
    this.departed = [];
    this.before = [];
    this.ordered.clear();
  }
}
