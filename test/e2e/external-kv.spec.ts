import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post, stream } from '../support/client';
import { PLAIN_STEPS, TestCluster } from '../support/cluster';
import { HOLD } from '../support/hold';
import { waitUntil } from '../support/wait';

const FIELDS = [
  'do_remote_prefill',
  'do_remote_decode',
  'remote_block_ids',
  'remote_engine_id',
  'remote_request_id',
  'remote_host',
  'remote_port',
  'tp_size',
  'remote_num_tokens',
  'remote_blocks_expiry_time',
  'transfer_mode',
];
const PROMPT = 'the baton goes from one runner to the next '.repeat(20);

const EXPIRED = /vllm:nixl_num_kv_expired_reqs_total\{[^}]*\} [1-9]/;

type Params = Record<string, unknown>;

interface Answer {
  readonly choices: { text: string; finish_reason: string }[];
  readonly kv_transfer_params: Params | null;
  readonly error?: { code: unknown };
}

describe.each(['fail', 'recompute'] as const)(
  'kv_transfer_params from outside, %s on load failure',
  (policy) => {
    let cluster: TestCluster;
    let url: string;

    afterAll(() => cluster?.stop());

    /** In place of the cluster of earlier tests. */
    async function start(...flags: readonly string[]): Promise<void> {
      await cluster?.stop();
      const always = [...PLAIN_STEPS, '--dialect=vllm', `--kv-load-failure-policy=${policy}`];
      cluster = await TestCluster.start({ topology: '1P1D', flags: [...always, ...flags] });
      url = `${cluster.baseUrl}/v1/completions`;
    }

    async function prefill(prompt = PROMPT): Promise<Params> {
      const answer = await post(url, { prompt, max_tokens: 1, kv_transfer_params: HOLD });
      const body = (await answer.json()) as Answer;
      expect(body.choices[0]?.finish_reason).toBe('length');
      return body.kv_transfer_params ?? {};
    }

    async function decode(params: Params): Promise<{ status: number; answer: Answer }> {
      const body = { prompt: PROMPT, max_tokens: 20, ignore_eos: true, kv_transfer_params: params };
      const answer = await post(url, body);
      return { status: answer.status, answer: (await answer.json()) as Answer };
    }

    async function plainText(): Promise<string> {
      const answer = await stream(url, { prompt: PROMPT, max_tokens: 20, ignore_eos: true });
      return answer.text;
    }

    async function metrics(): Promise<string> {
      return (await fetch(`${cluster.baseUrl}/metrics`)).text();
    }

    /** Expects the right text with `recompute` and a 500 with `fail`, never a wrong text. */
    async function expectLoadFailure(params: Params): Promise<void> {
      const { status, answer } = await decode(params);
      if (policy === 'fail') expect([status, answer.error?.code]).toEqual([500, 500]);
      else expect([status, answer.choices[0]?.text]).toEqual([200, await plainText()]);
    }

    describe('with the usual lease', () => {
      beforeAll(() => start());

      it('answers the eleven fields and continues on decode with the same text', async () => {
        const params = await prefill();
        expect(Object.keys(params).sort()).toEqual([...FIELDS].sort());
        const { status, answer } = await decode(params);
        expect(status).toBe(200);
        expect(answer.choices[0]?.text).toBe(await plainText());
        expect(await metrics()).toMatch(/vllm:nixl_bytes_transferred_count\{[^}]*\} [1-9]/);
        await cluster.untilAtRest();
      });

      it('does not serve a reference twice', async () => {
        const params = await prefill(`${PROMPT}twice`);
        await decode(params);
        await expectLoadFailure(params);
        await cluster.untilAtRest();
      });

      it('serves malformed parameters without a transfer, as vLLM does', async () => {
        const { status, answer } = await decode({ do_remote_prefill: true, remote_block_ids: 'x' });
        expect(status).toBe(200);
        expect(answer.choices[0]?.text).toBe(await plainText());
      });
    });

    /** So short that a test need not wait long, and too short for one that needs the blocks. */
    describe('with a short lease', () => {
      beforeAll(() => start('--kv-lease-duration=2'));

      it('does not serve a reference after its lease', async () => {
        const params = await prefill(`${PROMPT}expired`);
        await waitUntil(async () => EXPIRED.test(await metrics()), {
          what: 'the lease has run out',
        });
        await expectLoadFailure(params);
      });

      it('does not serve an unknown engine or request', async () => {
        const params = await prefill(`${PROMPT}unknown`);
        await expectLoadFailure({ ...params, remote_request_id: 'cmpl-nobody-0-00000000' });
        await expectLoadFailure({
          ...params,
          remote_engine_id: '00000000-0000-4000-8000-000000000000',
        });
        await cluster.untilAtRest();
      });

      it('ends a stream in-stream when the KV cannot be loaded', async () => {
        const params = await prefill(`${PROMPT}streamed`);
        const body = {
          prompt: PROMPT,
          max_tokens: 20,
          ignore_eos: true,
          kv_transfer_params: { ...params, remote_request_id: 'cmpl-nobody-0-00000000' },
        };
        const answer = await stream(url, body);
        expect(answer.endedWithDone).toBe(true);
        expect(answer.error === undefined).toBe(policy === 'recompute');
        await cluster.untilAtRest();
      });
    });
  },
);
