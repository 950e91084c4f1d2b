import type { OutputPlan, PlanSegment, RawJson, Tokenizer } from '@baton/text';
import type { DeltaWriter } from './delta-json';
import { VisibleText } from './visible-text';

export interface SegmentOptions {
  readonly tokenizer: Tokenizer;
  readonly deltas: DeltaWriter;
  readonly showsReasoning: boolean;
  /** Id of a call of this sequence. */
  readonly callId: (call: number) => string;
}

/**
 * Turns the tokens of a sequence with several parts into deltas. It records how much of each part
 * has been shown.
 */
export class SegmentDeltas {
  private readonly texts: readonly VisibleText[];
  private readonly segments: readonly PlanSegment[];

  constructor(
    plan: OutputPlan,
    private readonly options: SegmentOptions,
  ) {
    this.segments = plan.segments ?? [];
    this.texts = this.segments.map(({ from, to, cut }) => {
      const run = { tokenIds: plan.tokenIds.subarray(from, to), cut };
      return new VisibleText(options.tokenizer, run, false);
    });
  }

  /** The deltas that tokens `[from, from + count)` make visible, one per part. */
  advance(from: number, count: number, isEnd: boolean): RawJson[] {
    const deltas: RawJson[] = [];
    const to = from + count;
    this.segments.forEach((segment, i) => {
      const first = Math.max(from, segment.from);
      const last = Math.min(to, segment.to);
      const isTouched = first < last || (isEnd && last === to && first <= last);
      if (!isTouched) return;
      const isOver = isEnd || to >= segment.to;
      const text = this.texts[i]!.advance(first - segment.from, Math.max(0, last - first), isOver);
      const delta = this.deltaOf(segment, text, first < last && last === segment.to);
      if (delta !== undefined) deltas.push(delta);
    });
    return deltas;
  }

  private deltaOf(segment: PlanSegment, text: string, isComplete: boolean): RawJson | undefined {
    const { deltas, showsReasoning, callId } = this.options;
    const { kind, name, call, callKind } = segment;
    if (kind === 'call') {
      return isComplete
        ? deltas.callOpening({ index: call, id: callId(call), name, kind: callKind })
        : undefined;
    }
    if (text === '' || kind === 'hidden') return undefined;
    if (kind === 'arguments') return deltas.callArguments(call, callKind, text);
    if (kind === 'content') return deltas.content(text);
    return showsReasoning ? deltas.reasoning(text) : undefined;
  }
}
