import { wantsRemoteDecode, type BatonError } from '@baton/contract';
import { assert } from '@baton/kernel';
import { asciiJson, type OutputPlan } from '@baton/text';
import { renderStreamError } from '../refusal/render-error';
import type { GenerationRequest } from '../generation-request';
import type { AnswerHead, AnswerOptions } from './answer-head';
import type { FinalFacts } from './render-final';
import { OpenaiStreamShape } from './openai-stream-shape';
import { StreamRenderer } from './stream-renderer';
import type { StreamShape } from './stream-shape';
import { usageJson } from './usage';
import { VllmStreamShape } from './vllm-stream-shape';

const DONE = 'data: [DONE]\n\n';

/** A streamed answer: the frames that belong to all sequences, and a renderer for each. */
export class StreamedAnswer {
  readonly sequences: readonly StreamRenderer[];
  private readonly shape: StreamShape;

  /** @param plans one per sequence: choice `i % choices` of prompt `i / choices` */
  constructor(
    private readonly request: GenerationRequest,
    head: AnswerHead,
    plans: readonly OutputPlan[],
    private readonly options: AnswerOptions,
  ) {
    const { endpoint, includeUsage, serviceTier } = request;
    const Shape = options.dialect === 'vllm' ? VllmStreamShape : OpenaiStreamShape;
    this.shape = new Shape({ endpoint, head, includeUsage, serviceTier });
    this.sequences = plans.map((plan, index) => {
      const prompt = request.prompts[Math.floor(index / request.choices)];
      assert(prompt !== undefined, 'every plan belongs to a prompt');
      return new StreamRenderer(
        request,
        { index, prompt, plan, answerId: head.id },
        this.shape,
        options,
      );
    });
  }

  /**
   * The role frames of a chat answer, and its echoes. Sent once, with the first token of any
   * sequence.
   */
  open(): string {
    let frames = '';
    for (const sequence of this.sequences) frames += sequence.role();
    for (const sequence of this.sequences) frames += sequence.echo();
    return frames;
  }

  /**
   * The end of the stream, after all sequences: the usage frame with `include_usage`, the blocks
   * kept for the next turn, and the final mark.
   */
  finishStream(facts: FinalFacts = {}): string {
    const { kvTransferParams: params } = facts;
    // Left out for a prefill leg: vLLM's streams do not include held blocks, and no router reads
    // them.
    const sendsParams = params !== undefined && !wantsRemoteDecode(this.request.kvTransferParams);
    const paramsJson = sendsParams ? this.shape.kvTransferParams(asciiJson(params)) : '';
    if (!this.request.includeUsage) return paramsJson + DONE;
    const usage = {
      promptTokens: this.request.prompts.reduce((sum, { ids }) => sum + ids.length, 0),
      completionTokens: this.sequences.reduce((sum, one) => sum + one.completionTokens, 0),
      reasoningTokens: this.sequences.reduce((sum, one) => sum + one.reasoningTokens, 0),
      cachedTokens: facts.cachedTokens,
    };
    return this.shape.usage(usageJson(usage, this.options, true)) + paramsJson + DONE;
  }

  /** An error after the first byte, followed by the end of the stream. */
  fail(error: BatonError): string {
    return renderStreamError(error, this.options.dialect) + DONE;
  }
}
