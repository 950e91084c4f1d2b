import { hashString, mix } from '@baton/kernel';
import { encodeText } from './encode-text';
import { type GivenAnswer, givenCalls } from './given-answer';
import type { OutputPlan, PlanInput, PlanSegment } from './output-plan';
import type { ChatTemplate } from './templates/chat-template';
import { CHATML } from './templates/chatml';
import { encodeMarkup, type Markup } from './templates/markup';
import { decideCalls, type OfferedTool } from './tool-calls';
import { writeContent } from './write-content';
import { tokenSource } from './write-sentences';

const REASONING = hashString('reasoning');
/** Degrees of detail of arguments, the leanest last. */
const EASES = [2, 1, 0] as const;

interface Seeds {
  readonly hash: number;
  readonly structuredSeed: number;
  readonly startsBare: boolean;
}

/** Joins an output from reasoning, content and function calls, within one limit of tokens. */
export class SegmentedPlan {
  private readonly ids: number[] = [];
  private readonly segments: PlanSegment[] = [];
  private isCut = false;
  private stopReason: string | number | null = null;

  constructor(
    private readonly input: PlanInput,
    private readonly seeds: Seeds,
    private readonly given: GivenAnswer,
  ) {}

  make(): OutputPlan {
    const { hash } = this.seeds;
    const calls = this.calls();
    this.addReasoning();
    if (calls.length > 0) this.addCalls(calls);
    else this.addContent();
    return {
      tokenIds: Int32Array.from(this.ids),
      count: this.ids.length,
      endReason: this.isCut ? 'length' : 'stop',
      stopReason: this.stopReason,
      hash,
      cut: undefined,
      segments: this.segments,
    };
  }

  private calls(): readonly OfferedTool[] {
    const { tools } = this.input;
    if (tools === undefined) return [];
    return givenCalls(this.given, tools) ?? decideCalls(tools, this.seeds.structuredSeed);
  }

  private get template(): ChatTemplate {
    return this.input.template ?? CHATML;
  }

  private get room(): number {
    return this.input.maxTokens - this.ids.length;
  }

  private addReasoning(): void {
    const { input, given } = this;
    if (input.reasoning !== undefined && given.reasoning !== undefined) {
      if (given.reasoning === '') return;
      const most = Math.min(input.reasoning.maxTokens, input.maxTokens);
      this.add('reasoning', encodeText(input.tokenizer, given.reasoning, most));
      this.addMarkup('hidden', this.template.reasoning.closing, NO_CALL);
      return;
    }
    const hash = mix(this.seeds.hash, REASONING);
    const wanted = Math.min(reasoningLength(input, hash), input.maxTokens);
    if (wanted === 0) return;
    const wish = { input, hash, maxTokens: wanted, minTokens: 0, startsBare: true };
    const tokens = tokenSource(wish, wanted);
    const tokenIds = Int32Array.from({ length: wanted }, () => tokens.next());
    this.add('reasoning', { tokenIds, cut: undefined });
    this.addMarkup('hidden', this.template.reasoning.closing, NO_CALL);
  }

  private addContent(): void {
    const { input, room, seeds, given } = this;
    if (room <= 0) return;
    const minTokens = Math.max(0, input.minTokens - this.ids.length);
    const startsBare = this.ids.length > 0 || seeds.startsBare;
    const wish = { ...seeds, input, maxTokens: room, minTokens, startsBare };
    const written = writeContent(wish, given);
    this.add('content', written);
    this.isCut = written.endReason === 'length';
    this.stopReason = written.stopReason;
  }

  /** Adds as many calls as fit, and always the first one. */
  private addCalls(calls: readonly OfferedTool[]): void {
    for (let call = 0; call < calls.length; call++) {
      const { name, kind: callKind, arguments: args } = calls[call]!;
      const text = this.fittingArguments(calls[call]!, call);
      if (text === undefined && call > 0) return;
      const { opening, closing } = this.template.call(name, callKind);
      const of = { name, call, callKind };
      this.addMarkup('call', opening, of);
      const seed = mix(this.seeds.structuredSeed, call);
      this.addText('arguments', text ?? args.write(seed, { ease: 0 }), of);
      this.addMarkup('hidden', closing, of);
    }
  }

  /**
   * The most detailed arguments with which the call fits the limit. Undefined when no arguments
   * fit.
   */
  private fittingArguments(tool: OfferedTool, call: number): string | undefined {
    const { tokenizer } = this.input;
    const { opening, closing } = this.template.call(tool.name, tool.kind);
    const markup = encodeMarkup(tokenizer, [...opening, ...closing]).length;
    const room = this.room - markup;
    if (room <= 0) return undefined;
    const seed = mix(this.seeds.structuredSeed, call);
    return EASES.map((ease) => tool.arguments.write(seed, { ease })).find(
      (text) => tokenizer.encode(text, room).length < room,
    );
  }

  private addMarkup(kind: PlanSegment['kind'], markup: Markup, of: CallName): void {
    if (this.room <= 0) {
      this.isCut = true;
      return;
    }
    const ids = encodeMarkup(this.input.tokenizer, markup).slice(0, this.room);
    this.add(kind, { tokenIds: Int32Array.from(ids), cut: undefined }, of);
    if (this.room === 0) this.isCut = true;
  }

  private addText(kind: PlanSegment['kind'], text: string, of: CallName): void {
    if (this.room <= 0) {
      this.isCut = true;
      return;
    }
    const encoded = encodeText(this.input.tokenizer, text, this.room);
    this.add(kind, encoded, of);
    // A segment that fills the last place leaves no place for the end token.
    if (this.room === 0) this.isCut = true;
  }

  private add(
    kind: PlanSegment['kind'],
    { tokenIds, cut }: Pick<PlanSegment, 'cut'> & { readonly tokenIds: Int32Array },
    of: CallName = NO_CALL,
  ): void {
    const from = this.ids.length;
    for (const id of tokenIds) this.ids.push(id);
    this.segments.push({ kind, from, to: this.ids.length, cut, ...of });
  }
}

type CallName = Pick<PlanSegment, 'name' | 'call' | 'callKind'>;
const NO_CALL: CallName = { name: '', call: 0, callKind: 'function' };

function reasoningLength({ reasoning, seed }: PlanInput, hash: number): number {
  if (reasoning === undefined) return 0;
  const { lengthModel, effort, maxTokens } = reasoning;
  return Math.min(maxTokens, Math.max(1, Math.round(lengthModel(seed, hash) * effort)));
}
