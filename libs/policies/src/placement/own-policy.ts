import { Guarded, originOf, type OwnPolicyParts, type OwnSpec, type PolicyWatch } from './guarded';
import type { PlacementContext, PlacementRequest, Policy } from './policy';

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

/**
 * The context for a user's module, whose request has the hashes of its prompt and no others. The
 * router's own list also has those of the output, or of other requests. It is cut only when the
 * module reads it.
 */
export function promptOnly<Context extends PlacementContext>(context: Context): Context {
  return { ...context, request: cutRequest(context.request) };
}

function cutRequest(request: PlacementRequest): PlacementRequest {
  let cut: ArrayLike<number> | undefined;
  return {
    ...request,
    blockFrom: 0,
    get blockHashes() {
      cut ??= cutHashes(request);
      return cut;
    },
  };
}

function cutHashes({ blockHashes, blockFrom, blockCount }: PlacementRequest): ArrayLike<number> {
  const end = blockFrom + blockCount;
  if (blockHashes instanceof Int32Array) return blockHashes.subarray(blockFrom, end);
  return Array.prototype.slice.call(blockHashes, blockFrom, end) as number[];
}
