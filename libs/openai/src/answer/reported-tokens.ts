import type { OutputPlan, PlanSegment } from '@baton/text';
import type { Dialect } from '../refusal/dialect';
import type { GenerationRequest } from '../generation-request';

/** Determines which tokens of a sequence have ids and log-probabilities in the answer. */
export class ReportedTokens {
  private readonly segments: readonly PlanSegment[] | undefined;
  private readonly showsReasoning: boolean;

  constructor(
    plan: OutputPlan,
    request: GenerationRequest,
    private readonly dialect: Dialect,
  ) {
    this.segments = plan.segments;
    this.showsReasoning = request.reasoning?.isShown !== false;
  }

  /** Token ids: all except those of hidden reasoning. */
  ids(plan: OutputPlan, from: number, to: number): Int32Array {
    if (this.segments === undefined || this.showsReasoning) return plan.tokenIds.subarray(from, to);
    return plan.tokenIds.subarray(from, to).filter((_id, i) => !this.isHidden(from + i));
  }

  /** Whether a token has log-probabilities. OpenAI gives them for content only. */
  hasLogprob(index: number): boolean {
    if (this.segments === undefined) return true;
    if (this.dialect === 'vllm') return !this.isHidden(index);
    return this.kindAt(index) === 'content';
  }

  private isHidden(index: number): boolean {
    return !this.showsReasoning && this.kindAt(index) === 'reasoning';
  }

  private kindAt(index: number): PlanSegment['kind'] | undefined {
    return this.segments?.find(({ from, to }) => index >= from && index < to)?.kind;
  }
}

/** Number of reasoning tokens among the first `count`. */
export function reasoningTokens({ segments }: OutputPlan, count: number): number {
  const reasoning = segments?.find(({ kind }) => kind === 'reasoning');
  return reasoning === undefined ? 0 : Math.min(reasoning.to, count) - reasoning.from;
}
