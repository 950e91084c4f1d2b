import type { Stage } from '@baton/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { freePort } from '../support/free-port';

const PROMPT = 'each engine has a door of its own '.repeat(10);

describe('engines on separate ports, for an outside router', () => {
  let cluster: TestCluster;
  let firstPort: number;

  beforeAll(async () => {
    firstPort = await freePort(2);
    cluster = await TestCluster.start({
      topology: '1P1D',
      flags: [
        ...PLAIN_STEPS,
        '--dialect=vllm',
        '--expose-engines',
        `--expose-engines-port=${firstPort}`,
      ],
    });
  });

  afterAll(() => cluster?.stop());

  async function urlOf(stage: Stage): Promise<string> {
    const engine = (await cluster.engines()).find((each) => each.stage === stage);
    return `http://127.0.0.1:${firstPort + (engine?.index ?? 0)}/v1/completions`;
  }

  it('have the ports in the order of the topology', async () => {
    const engines = [...(await cluster.engines())];
    const stages = engines.sort((a, b) => a.index - b.index).map(({ stage }) => stage);
    expect(stages).toEqual(['prefill', 'decode']);
  });

  it('answer a plain request by themselves, each with the same text', async () => {
    const body = { prompt: PROMPT, max_tokens: 15, ignore_eos: true };
    const viaPrefill = await stream(await urlOf('prefill'), body);
    const viaDecode = await stream(await urlOf('decode'), body);
    const viaCluster = await stream(`${cluster.baseUrl}/v1/completions`, body);
    expect(viaPrefill.text).toBe(viaCluster.text);
    expect(viaDecode.text).toBe(viaCluster.text);
  });

  it('serve the two legs of the toy proxy', async () => {
    const prefill = await post(await urlOf('prefill'), {
      prompt: PROMPT,
      max_tokens: 1,
      stream: false,
      kv_transfer_params: { do_remote_decode: true, do_remote_prefill: false },
    });
    const { kv_transfer_params } = (await prefill.json()) as { kv_transfer_params: object };
    const decode = await stream(await urlOf('decode'), {
      prompt: PROMPT,
      max_tokens: 15,
      ignore_eos: true,
      kv_transfer_params,
    });
    const plain = await stream(`${cluster.baseUrl}/v1/completions`, {
      prompt: PROMPT,
      max_tokens: 15,
      ignore_eos: true,
    });
    expect(decode.text).toBe(plain.text);
    await cluster.untilAtRest();
  });

  it('serve the two legs of the push proxy, sent at once', async () => {
    const transfer_id = 'xfer-1';
    const asked = { prompt: `${PROMPT} push`, max_tokens: 15, ignore_eos: true };
    const decode = stream(await urlOf('decode'), {
      ...asked,
      kv_transfer_params: { do_remote_prefill: true, remote_engine_id: 'any', transfer_id },
    });
    const prefill = await post(await urlOf('prefill'), {
      ...asked,
      max_tokens: 1,
      kv_transfer_params: { do_remote_decode: true, remote_engine_id: null, transfer_id },
    });
    expect(prefill.status).toBe(200);
    const plain = await stream(`${cluster.baseUrl}/v1/completions`, asked);
    expect((await decode).text).toBe(plain.text);
    await cluster.untilAtRest();
  });
});
