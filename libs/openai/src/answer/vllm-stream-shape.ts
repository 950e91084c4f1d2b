import { asciiJson, type RawJson, rawObject } from '@baton/text';
import type { ChunkFacts, StreamShape, StreamShapeInput } from './stream-shape';

/**
 * vLLM's stream: a key appears when the server has assigned it, even null, and the finish reason
 * comes with the last text.
 */
export class VllmStreamShape implements StreamShape {
  readonly finishesApart = false;
  private readonly open: string;
  private readonly isChat: boolean;
  private readonly fingerprint: string;

  constructor(private readonly input: StreamShapeInput) {
    this.isChat = input.endpoint === 'chat';
    const { id, created, model, systemFingerprint } = input.head;
    const head = rawObject({
      id: asciiJson(id),
      object: this.isChat ? '"chat.completion.chunk"' : '"text_completion"',
      created: String(created),
      model: asciiJson(model),
    });
    this.open = `data: ${head.slice(0, -1)},"choices":[`;
    this.fingerprint = `,"system_fingerprint":${asciiJson(systemFingerprint)}`;
  }

  role(index: number, facts: ChunkFacts): string {
    const choice = rawObject({
      index: String(index),
      delta: '{"role":"assistant","content":""}',
      logprobs: 'null',
      finish_reason: 'null',
    });
    const prompt =
      `,"prompt_token_ids":${facts.promptTokenIds ?? 'null'},` +
      `"prompt_text":${facts.promptText ?? 'null'}`;
    return this.frame(choice, facts, prompt);
  }

  echo(index: number, text: string, facts: ChunkFacts): string {
    const choice = rawObject({
      index: String(index),
      delta: `{"content":"${text}"}`,
      logprobs: 'null',
      finish_reason: 'null',
    });
    return this.frame(choice, facts, '');
  }

  chunk(index: number, text: string, facts: ChunkFacts): string {
    const choice = this.isChat
      ? chatChoice(index, `{"content":"${text}"}`, facts)
      : textChoice(index, text, facts);
    return this.chunkOf(choice, facts);
  }

  delta(index: number, delta: RawJson, facts: ChunkFacts): string {
    return this.chunkOf(chatChoice(index, delta, facts), facts);
  }

  finishSequence(index: number, facts: ChunkFacts): string {
    return this.chunk(index, '', facts);
  }

  usage(usage: RawJson): string {
    return `${this.open}],"usage":${usage}${this.fingerprint}}\n\n`;
  }

  kvTransferParams(params: RawJson): string {
    return `${this.open}],"kv_transfer_params":${params}}\n\n`;
  }

  private chunkOf(choice: RawJson, facts: ChunkFacts): string {
    const isLast = facts.finish !== undefined && !this.input.includeUsage;
    return this.frame(choice, facts, isLast ? this.fingerprint : '');
  }

  private frame(choice: RawJson, facts: ChunkFacts, tail: string): string {
    const usage = facts.usage === undefined ? '' : `,"usage":${facts.usage}`;
    return `${this.open}${choice}]${usage}${tail}}\n\n`;
  }
}

function chatChoice(index: number, delta: RawJson, facts: ChunkFacts): RawJson {
  const { finish } = facts;
  return rawObject({
    index: String(index),
    delta,
    logprobs: facts.logprobs ?? 'null',
    finish_reason: finish === undefined ? 'null' : `"${finish.reason}"`,
    stop_reason: finish === undefined ? undefined : asciiJson(finish.stopReason),
    token_ids: facts.tokenIds ?? 'null',
  });
}

function textChoice(index: number, text: string, facts: ChunkFacts): RawJson {
  const { finish } = facts;
  return rawObject({
    index: String(index),
    text: `"${text}"`,
    logprobs: facts.logprobs ?? 'null',
    finish_reason: finish === undefined ? 'null' : `"${finish.reason}"`,
    stop_reason: finish === undefined ? 'null' : asciiJson(finish.stopReason),
    prompt_token_ids: facts.promptTokenIds ?? 'null',
    token_ids: facts.tokenIds ?? 'null',
  });
}
