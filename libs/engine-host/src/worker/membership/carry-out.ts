import { BatonError, type Stage } from '@baton/contract';
import { type MemberEngine, memberLoad } from './member-engine';
import type { LiveMembership } from './membership';

/** Engines that join, leave, or change their role; the least busy of a role are chosen first. */
export type EngineChange =
  | { readonly kind: 'join' | 'leave'; readonly role: Stage; readonly count: number }
  | {
      readonly kind: 'become';
      readonly role: Stage;
      readonly to: Stage;
      readonly count: number;
    };

/**
 * Carries out a change of a live cluster. Resolves with the engines that leave or change.
 *
 * @throws BatonError as `LiveMembership`, and `no_engine` when no engine of the role is ready
 */
export async function carryOut(
  change: EngineChange,
  membership: LiveMembership,
): Promise<MemberEngine[]> {
  if (change.kind === 'join') {
    await membership.join(change.role, change.count);
    return [];
  }
  const gone: MemberEngine[] = [];
  for (let i = 0; i < change.count; i += 1) {
    const engineId = await leastBusy(change.role, membership);
    const left =
      change.kind === 'become'
        ? await membership.changeRole(engineId, change.to)
        : await membership.leave(engineId);
    gone.push(left);
  }
  return gone;
}

/** The ready engine with the least load, chosen as on the virtual clock. */
async function leastBusy(role: Stage, membership: LiveMembership): Promise<string> {
  const engines = await membership.engines();
  const [first, ...others] = engines.filter(
    (engine) => engine.role === role && engine.state === 'ready',
  );
  if (first === undefined) throw new BatonError('no_engine', `no ${role} engine is ready.`);
  return others.reduce((best, each) => (memberLoad(each) < memberLoad(best) ? each : best), first)
    .engineId;
}
