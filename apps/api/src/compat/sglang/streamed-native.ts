import type { BatonError, EndReason } from '@baton/contract';
import { type FinalContext, renderStreamError } from '@baton/openai';
import type { OutputPlan, RawJson } from '@baton/text';
import { SglangOutput } from './native-request';

const DONE = 'data: [DONE]\n\n';

/**
 * The stream of SGLang's POST /generate: each event has all output so far, with the index of the
 * prompt where there are several.
 */
export class StreamedSglangGenerate {
  readonly sequences: readonly SglangSequence[];

  constructor(context: FinalContext, plans: readonly OutputPlan[], isBatch: boolean) {
    this.sequences = plans.map(
      (plan, index) => new SglangSequence(new SglangOutput(context, plan, index), isBatch, index),
    );
  }

  open(): string {
    return '';
  }

  finishStream(): string {
    return DONE;
  }

  fail(error: BatonError): string {
    return renderStreamError(error, 'vllm') + DONE;
  }
}

class SglangSequence {
  constructor(
    private readonly output: SglangOutput,
    private readonly isBatch: boolean,
    private readonly index: number,
  ) {}

  tokens(from: number, count: number): string {
    return count === 0 ? '' : this.event(this.output.json(from + count, undefined, {}));
  }

  finishSequence(reason: EndReason, from: number, count: number): string {
    return this.event(this.output.json(from + count, reason, {}));
  }

  private event(json: RawJson): string {
    const numbered = this.isBatch ? `${json.slice(0, -1)},"index":${this.index}}` : json;
    return `data: ${numbered}\n\n`;
  }
}
