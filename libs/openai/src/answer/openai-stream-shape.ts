import { asciiJson, type RawJson, rawObject } from '@baton/text';
import type { ChunkFacts, StreamShape, StreamShapeInput } from './stream-shape';

/**
 * OpenAI's stream: first the role alone, then one field per delta, and last an empty delta with the
 * finish reason. vLLM's additional keys appear when the request has their fields.
 */
export class OpenaiStreamShape implements StreamShape {
  readonly finishesApart = true;
  private readonly open: string;
  private readonly isChat: boolean;

  constructor(private readonly input: StreamShapeInput) {
    this.isChat = input.endpoint === 'chat';
    const { id, created, model, systemFingerprint } = input.head;
    const { serviceTier: tier } = input;
    const head = rawObject({
      id: asciiJson(id),
      object: this.isChat ? '"chat.completion.chunk"' : '"text_completion"',
      created: String(created),
      model: asciiJson(model),
      system_fingerprint: asciiJson(systemFingerprint),
      service_tier: tier === undefined ? undefined : asciiJson(tier),
    });
    this.open = `data: ${head.slice(0, -1)},"choices":[`;
  }

  role(index: number, facts: ChunkFacts): string {
    return this.frame(this.chatChoice(index, '{"role":"assistant"}', facts), facts);
  }

  echo(index: number, text: string, facts: ChunkFacts): string {
    return this.chunk(index, text, facts);
  }

  chunk(index: number, text: string, facts: ChunkFacts): string {
    const choice = this.isChat
      ? this.chatChoice(index, `{"content":"${text}"}`, facts)
      : this.textChoice(index, text, facts);
    return this.frame(choice, facts);
  }

  delta(index: number, delta: RawJson, facts: ChunkFacts): string {
    return this.frame(this.chatChoice(index, delta, facts), facts);
  }

  finishSequence(index: number, facts: ChunkFacts): string {
    const choice = this.isChat
      ? this.chatChoice(index, '{}', facts)
      : this.textChoice(index, '', facts);
    return this.frame(choice, facts);
  }

  usage(usage: RawJson): string {
    return `${this.open}],"usage":${usage}}\n\n`;
  }

  kvTransferParams(params: RawJson): string {
    return `${this.open}],"kv_transfer_params":${params}}\n\n`;
  }

  private chatChoice(index: number, delta: RawJson, facts: ChunkFacts): RawJson {
    return rawObject({ index: String(index), delta, ...outcome(facts), token_ids: facts.tokenIds });
  }

  private textChoice(index: number, text: string, facts: ChunkFacts): RawJson {
    return rawObject({
      text: `"${text}"`,
      index: String(index),
      ...outcome(facts),
      prompt_token_ids: facts.promptTokenIds,
      token_ids: facts.tokenIds,
    });
  }

  private frame(choice: RawJson, facts: ChunkFacts): string {
    const usage = this.input.includeUsage ? `,"usage":${facts.usage ?? 'null'}` : '';
    const hasPrompt = this.isChat && facts.promptTokenIds !== undefined;
    const prompt = hasPrompt ? `,"prompt_token_ids":${facts.promptTokenIds}` : '';
    const { promptText } = facts;
    const text = promptText === undefined ? '' : `,"prompt_text":${promptText}`;
    return `${this.open}${choice}]${usage}${prompt}${text}}\n\n`;
  }
}

function outcome({ logprobs, finish }: ChunkFacts): Record<string, RawJson> {
  return {
    logprobs: logprobs ?? 'null',
    finish_reason: finish === undefined ? 'null' : `"${finish.reason}"`,
  };
}
