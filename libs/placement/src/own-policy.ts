import { Guarded, originOf, type OwnPolicyParts, type OwnSpec, type PolicyWatch } from './guarded';
import type { PlacementContext, Policy } from './policy';
import { promptOnly } from './prompt-view';

export type OwnPolicySpec = OwnSpec<Policy>;

/** A user's own placement policy. A built-in fallback chooses when it does not. */
export class OwnPolicy implements Policy {
  private readonly own: Guarded<PlacementContext, number>;

  constructor(
    spec: OwnPolicySpec,
    parts: OwnPolicyParts,
    private readonly fallback: Policy,
    watch: PolicyWatch,
  ) {
    const own = spec.module.create(parts);
    this.own = new Guarded(
      {
        method: 'choose',
        ask: (context) => own.choose(promptOnly(context)),
        isAnswer: isIndex,
        expected: ({ engines }) => `an integer from 0 to ${engines.length - 1}`,
      },
      originOf(spec, parts.stage, own),
      watch,
    );
  }

  choose(context: PlacementContext): number {
    return this.own.answer(context) ?? this.fallback.choose(context);
  }
}

function isIndex(given: unknown, { engines }: PlacementContext): given is number {
  return Number.isInteger(given) && Number(given) >= 0 && Number(given) < engines.length;
}
