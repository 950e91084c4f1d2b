import type { SourceAction, SourceFact } from './source-protocol';
import type { TargetAction, TargetFact } from './target-protocol';
import type { AnyId } from './request-table';

/** One call of a coordinator, in the form in which a driver can record it. */
export type HandoffEntry<Id extends AnyId = string> =
  | {
      readonly side: 'source';
      readonly engineId: Id;
      readonly fact: SourceFact<Id>;
      readonly actions: readonly SourceAction<Id>[];
    }
  | {
      readonly side: 'target';
      readonly engineId: Id;
      readonly fact: TargetFact<Id>;
      readonly actions: readonly TargetAction<Id>[];
    };

/**
 * The events of one request, without instants, epochs, generations, engines or the number of tries.
 * Two drivers must agree on it. `source` has one list per holding and `target` one per fetch, each
 * in the order of its run.
 */
export interface HandoffLifecycle<Id extends AnyId = string> {
  readonly requestId: Id;
  readonly source: readonly (readonly string[])[];
  readonly target: readonly (readonly string[])[];
}

/**
 * The lifecycles of all requests in the entries, by request id. Only changes leave a trace, so
 * repeated facts, heartbeats and repeated read requests do not show. Requests with another id at
 * the source appear once per id.
 */
export function lifecycleOf<Id extends AnyId>(
  entries: readonly HandoffEntry<Id>[],
): HandoffLifecycle<Id>[] {
  const lives = new Lives<Id>();
  for (const entry of entries) {
    if (entry.side === 'source') readSource(lives, entry.actions);
    else readTarget(lives, entry.fact, entry.actions);
  }
  return lives.sorted();
}

function readSource<Id extends AnyId>(
  lives: Lives<Id>,
  actions: readonly SourceAction<Id>[],
): void {
  for (const action of actions) {
    if (action.kind === 'hand-over') {
      lives.note('source', action, `held ${action.heldTokens} tokens`);
    } else if (action.kind === 'release-blocks') {
      lives.note('source', action, `released: ${action.reason}`);
    }
  }
}

function readTarget<Id extends AnyId>(
  lives: Lives<Id>,
  fact: TargetFact<Id>,
  actions: readonly TargetAction<Id>[],
): void {
  if (fact.kind === 'accepted') lives.note('target', fact, 'accepted');
  for (const action of actions) {
    switch (action.kind) {
      case 'send-read':
        if (fact.kind === 'reserved') {
          lives.note('target', fact, `reading ${fact.missingTokens} tokens`);
        }
        break;
      case 'start-transfer':
        lives.note('target', action, `transferring ${action.bytes} bytes`);
        break;
      case 'kv-ready':
        lives.note('target', action, 'received');
        break;
      case 'kv-failed':
        lives.note('target', action, `failed: ${action.why}`);
        break;
      default:
        break;
    }
  }
}

type Side = HandoffEntry['side'];
type Runs = Map<number, string[]>;

class Lives<Id extends AnyId> {
  private readonly requests = new Map<Id, Record<Side, Runs>>();

  /** Adds a step unless this run already has it. */
  note(side: Side, run: { requestId: Id; epoch: number }, step: string): void {
    const known = this.requests.get(run.requestId);
    const request = known ?? { source: new Map<number, string[]>(), target: new Map() };
    if (known === undefined) this.requests.set(run.requestId, request);
    const steps = request[side].get(run.epoch);
    if (steps === undefined) request[side].set(run.epoch, [step]);
    else if (!steps.includes(step)) steps.push(step);
  }

  sorted(): HandoffLifecycle<Id>[] {
    return [...this.requests]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([requestId, request]) => ({
        requestId,
        source: inOrder(request.source),
        target: inOrder(request.target),
      }));
  }
}

function inOrder(runs: Runs): string[][] {
  return [...runs].sort(([a], [b]) => a - b).map(([, steps]) => steps);
}
