import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HOLD } from '../../../../test/support/hold';
import { type Json, OutsideRouter } from '../../test/outside-router';

const OUTPUT = 96;
const BLOCK = 16;

let router: OutsideRouter;

beforeAll(async () => {
  router = await OutsideRouter.start({ bidirectionalKvXfer: true, kvLeaseDuration: 600 });
});

afterAll(() => router.stop());

/** Sends a client's requests as vLLM's multi-turn proxy does, one instance per conversation. */
class MultiTurnProxy {
  kept: Json | undefined;

  constructor(private readonly path: string) {}

  async ask(asked: Json): Promise<string> {
    const headers = { 'X-Request-Id': randomUUID() };
    const params = this.kept ?? HOLD;
    this.kept = undefined;
    const first = { ...asked, kv_transfer_params: params, stream: false, max_tokens: 1 };
    const prefill = await router.leg('prefill', first, { headers, path: this.path });
    const held = { ...prefill.body.kv_transfer_params, remote_host: '127.0.0.1' };
    const second = { ...asked, kv_transfer_params: held, stream: true };
    const response = await router.send('decode', second, { headers, path: this.path });
    return this.read(await response.text());
  }

  private read(events: string): string {
    let text = '';
    for (const line of events.split('\n')) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      const chunk = JSON.parse(line.slice(6)) as Chunk;
      for (const choice of chunk.choices) text += choice.text ?? choice.delta?.content ?? '';
      const { kv_transfer_params: params } = chunk;
      if (params) this.kept = { ...params, remote_host: '127.0.0.1' };
    }
    return text;
  }
}

interface Chunk {
  readonly choices: readonly { text?: string; delta?: { content?: string } }[];
  readonly kv_transfer_params?: Json;
}

/** Prompt tokens of the prefill engine so far: computed, transferred. */
function ofPrefill(): { computed: number; transferred: number } {
  return {
    computed: router.counted('prompt_tokens_local_compute', 'prefill'),
    transferred: router.counted('prompt_tokens_external_kv_transfer', 'prefill'),
  };
}

async function during(work: () => Promise<unknown>): Promise<ReturnType<typeof ofPrefill>> {
  const before = ofPrefill();
  await work();
  const after = ofPrefill();
  return {
    computed: after.computed - before.computed,
    transferred: after.transferred - before.transferred,
  };
}

const settings = { max_tokens: OUTPUT, ignore_eos: true };

describe('vLLM’s multi-turn proxy with bidirectional_kv_xfer', () => {
  it('computes only the new tokens of each turn, three turns long', async () => {
    const proxy = new MultiTurnProxy('/v1/completions');
    let prompt = 'a conversation of its own begins here and goes on.'.repeat(12);
    for (const turn of [1, 2, 3]) {
      const spent = await during(async () => {
        prompt += await proxy.ask({ ...settings, prompt });
      });
      expect(proxy.kept).toMatchObject({ do_remote_decode: true, do_remote_prefill: false });
      expect(router.heldBlocks).toBeGreaterThan(0);
      if (turn > 1) {
        expect(spent.transferred).toBeGreaterThanOrEqual(OUTPUT - BLOCK);
        expect(spent.computed).toBeLessThan(30 + 2 * BLOCK);
      }
      prompt += ` And what comes in turn ${turn + 1}?`;
    }
  });

  it('does the same for chats', async () => {
    const proxy = new MultiTurnProxy('/v1/chat/completions');
    const messages: Json[] = [{ role: 'user', content: 'tell me of kettles '.repeat(20) }];
    const spent = [];
    for (const content of ['and of cups?', 'and of spoons?']) {
      spent.push(
        await during(async () => {
          const answer = await proxy.ask({ ...settings, messages });
          messages.push({ role: 'assistant', content: answer }, { role: 'user', content });
        }),
      );
    }
    expect(spent[1]?.transferred).toBeGreaterThanOrEqual(OUTPUT - 2 * BLOCK);
    expect(spent[1]?.computed).toBeLessThan(30 + 2 * BLOCK);
  });
});
