import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readStream } from '../../test/api-fixture';
import { type Json, OutsideRouter } from '../../test/outside-router';

const PROMPT = 'a reference is used once '.repeat(10);
const ASKED = { prompt: PROMPT, max_tokens: 5, ignore_eos: true };
const HOLD = { do_remote_decode: true, do_remote_prefill: false };
const KEPT = {
  ...HOLD,
  remote_engine_id: 'e',
  remote_request_id: 'r-00000001',
  remote_host: 'h',
  remote_port: 5600,
  remote_block_ids: [[1]],
  remote_num_tokens: 16,
};
const NOBODY = '00000000-0000-4000-8000-000000000000';

const STRICT = {
  strictKv: true,
  kvLoadFailurePolicy: 'recompute',
  enablePrefixCaching: false,
} as const;

/** A busy machine can take longer than the usual lease from one leg to the other. */
let router: OutsideRouter;
/** Waits briefly for a prefill leg, and keeps its blocks briefly. */
let impatient: OutsideRouter;

beforeAll(async () => {
  router = await OutsideRouter.start({ ...STRICT, kvLeaseDuration: 600 });
  const short = { kvLegTimeout: 0.1, kvLeaseDuration: 1 };
  impatient = await OutsideRouter.start({ ...STRICT, ...short });
});

afterAll(() => Promise.all([router.stop(), impatient.stop()]));

async function held(by = router): Promise<Json> {
  const body = { ...ASKED, max_tokens: 1, kv_transfer_params: HOLD };
  return (await by.leg('prefill', body)).body.kv_transfer_params ?? {};
}

async function expectRefused(params: Json, sentence: RegExp, by = router): Promise<void> {
  const { status, body } = await by.leg('decode', { ...ASKED, kv_transfer_params: params });
  expect([status, body.error?.code]).toEqual([400, 400]);
  expect(body.error?.message).toMatch(sentence);
}

describe('strict_kv', () => {
  const malformed: [string, Json, RegExp][] = [
    ['nothing but the wish', { do_remote_prefill: true }, /remote_engine_id, remote_request_id/],
    ['a flag that is none', { do_remote_prefill: 'yes' }, /do_remote_prefill must be true or/],
    [
      'kept blocks of unknown length',
      { ...KEPT, remote_num_tokens: '48' },
      /wrong type: remote_num_tokens\.$/,
    ],
    ['a time that is none', { ...KEPT, remote_blocks_expiry_time: 'soon' }, /_expiry_time\.$/],
    ['both wishes', { do_remote_prefill: true, do_remote_decode: true }, /at once/],
  ];

  it.each(malformed)('refuses %s and names the error', async (_what, params, sentence) => {
    await expectRefused(params, sentence);
  });

  it('refuses disaggregated_params that name no prompt, with that reason', async () => {
    for (const wrong of [
      { request_type: 'both' },
      { request_type: 'generation_only', encoded_opaque_state: 'AAAA' },
      { request_type: 'generation_only' },
    ]) {
      const answer = await router.leg('decode', { ...ASKED, disaggregated_params: wrong });
      expect(answer.status).toBe(400);
      expect(answer.body.error?.message).toMatch(/^disaggregated_params/);
    }
  });

  it('refuses block ids that are no lists of numbers', async () => {
    await expectRefused({ ...(await held()), remote_block_ids: [1, 2] }, /: remote_block_ids\.$/);
  });

  const unknown: [string, Json][] = [
    ['an unknown request', { remote_request_id: 'cmpl-nobody-0-00000001' }],
    ['an unknown engine', { remote_engine_id: NOBODY }],
    ['blocks of somebody else', { remote_block_ids: [[900, 901]] }],
  ];

  it.each(unknown)('refuses %s, whatever kv_load_failure_policy says', async (_what, wrong) => {
    await expectRefused({ ...(await held()), ...wrong }, /name no KV blocks that are held/);
  });

  it('refuses a reference that was used', async () => {
    const params = await held();
    const first = await router.leg('decode', { ...ASKED, kv_transfer_params: params });
    expect(first.status).toBe(200);
    await expectRefused(params, /already read/);
  });

  it('refuses a reference whose lease has run out', async () => {
    const params = await held(impatient);
    await impatient.untilNothingIsHeld();
    await expectRefused(params, /expired/, impatient);
  });

  it('refuses a decode leg whose prefill leg does not come', async () => {
    const transfer_id = `xfer-${randomUUID()}`;
    await expectRefused({ do_remote_prefill: true, transfer_id }, /has not come/, impatient);
  });

  it('refuses within a stream that has begun', async () => {
    const kv_transfer_params = { ...(await held()), remote_engine_id: NOBODY };
    const body = { ...ASKED, stream: true, kv_transfer_params };
    const { error, text } = await readStream(await router.send('decode', body));
    expect([error?.code, text]).toEqual([400, '']);
  });

  it('serves valid references', async () => {
    const { status, body } = await router.leg('decode', {
      ...ASKED,
      kv_transfer_params: await held(),
    });
    expect([status, body.choices?.[0]?.text]).toEqual([200, await router.plainText(ASKED)]);
  });
});
