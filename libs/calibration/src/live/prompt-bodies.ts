import {
  findPromptWords,
  type PromptWords,
  RequestWriter,
  type ServerAccess,
  ServerTokenizer,
} from '@baton/loadgen';
import { PromptContents, type Workload } from '@baton/workload';

/**
 * First token id that is plain text in all known vocabularies: above control tokens and bytes, and
 * below the size of the smallest vocabulary.
 */
const FIRST_TOKEN = 300;
const TOKENS = 3_600;

/** Writes the bodies of requests. Prompts have exact lengths where the server allows it. */
export class PromptBodies {
  private constructor(
    private readonly server: ServerAccess,
    private readonly model: string,
    private readonly ignoreEos: boolean,
    /** Chats consist of words; completions of tokens by number, which need no tokenizer. */
    private readonly words: PromptWords | undefined,
  ) {}

  static async of(server: ServerAccess, model: string, ignoreEos: boolean): Promise<PromptBodies> {
    const isChat = server.protocol === 'openai-chat';
    const words = isChat ? await findPromptWords(new ServerTokenizer(server, model)) : undefined;
    return new PromptBodies(server, model, ignoreEos, words);
  }

  /** Bodies by row. With equal seeds, the shorter prompt of a row is a prefix of the longer one. */
  for(workload: Workload, seed: number): (row: number) => string {
    const { words } = this;
    if (words !== undefined) return this.chats(workload, seed, words);
    const contents = new PromptContents(workload, seed, TOKENS);
    const { promptTokens, outputTokens } = workload;
    return (row) =>
      JSON.stringify({
        model: this.model,
        prompt: Array.from(contents.own(row, promptTokens[row]!), (token) => FIRST_TOKEN + token),
        max_tokens: outputTokens[row]!,
        stream: true,
        stream_options: { include_usage: true },
        ...(this.ignoreEos ? { ignore_eos: true } : {}),
        ...this.server.extraBody,
      });
  }

  private chats(workload: Workload, seed: number, words: PromptWords): (row: number) => string {
    const { model, ignoreEos, server } = this;
    const { protocol, extraBody, prefix } = server;
    const writer = new RequestWriter(
      { workload },
      { ...words, model, seed, ignoreEos, isModelGiven: true, protocol, extraBody, prefix },
    );
    return (row) => writer.body(row);
  }
}
