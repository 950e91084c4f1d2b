import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { LmcacheModule } from '../compat/lmcache/lmcache.module';
import { P2pNcclModule } from '../compat/p2p-nccl/p2p-nccl.module';
import { SglangModule } from '../compat/sglang/sglang.module';
import { TensorrtLlmModule } from '../compat/tensorrt-llm/tensorrt-llm.module';
import { LegForms } from './leg-forms';

const KINDS = ['none', 'hold', 'attach', 'meet', 'unusable'];
const OF_PARAMS = [
  ...['do_remote_decode', 'do_remote_prefill', 'remote_engine_id', 'remote_request_id'],
  ...['remote_host', 'remote_port', 'remote_block_ids', 'remote_num_tokens', 'transfer_id'],
  ...['remote_blocks_expiry_time', 'ret_first_tok', 'disagg_spec', 'tp_size'],
];
const OF_BODY = ['bootstrap_room', 'disaggregated_params', 'disagg_prefill_resp', 'prompt'];
const OF_DISAGGREGATED = [
  ...['request_type', 'disagg_request_id', 'ctx_request_id', 'encoded_opaque_state'],
  ...['first_gen_tokens', 'schedule_style'],
];

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(true, false, null, '', 'context_only', 'generation_only', 'e30=', 'bnVsbA=='),
  fc.constantFrom([[1, 2]], [['1']], [1], 5600, 2 ** 63, '7259873453121536042'),
  fc.jsonValue(),
);

function fieldsOf(names: readonly string[]): fc.Arbitrary<Record<string, unknown>> {
  return fc.dictionary(fc.constantFrom(...names), value);
}

const facts = fc.record({
  params: fc.option(fieldsOf(OF_PARAMS), { nil: undefined }),
  body: fc.oneof(
    fc.jsonValue(),
    fieldsOf(OF_BODY),
    fieldsOf(OF_DISAGGREGATED).map((params) => ({ disaggregated_params: params })),
  ),
  clientRequestId: fc.option(fc.string(), { nil: undefined }),
  stage: fc.constantFrom('prefill', 'decode', 'aggregated', undefined),
});

const forms = new LegForms();
for (const Peer of [TensorrtLlmModule, SglangModule, P2pNcclModule, LmcacheModule]) new Peer(forms);

describe('legs of outside routers', () => {
  it('are classified for any content', async () => {
    await fc.assert(
      fc.asyncProperty(facts, async (each) => {
        const leg = await forms.legOf(each);
        expect(KINDS).toContain(leg.kind);
        if (leg.kind === 'attach') expect(leg.params.remote_engine_id).toEqual(expect.any(String));
        if (leg.kind === 'unusable') expect(leg.why).toMatch(/\.$/);
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it('are `none` when neither the parameters nor the call have the sign of one', async () => {
    await fc.assert(
      fc.asyncProperty(facts, async (each) => {
        if (forms.areIn(each)) return;
        expect(await forms.legOf({ ...each, params: undefined })).toEqual({ kind: 'none' });
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it.each([
    [{ disaggregated_params: {} }, undefined],
    [{ bootstrap_room: [1] }, undefined],
    [{}, 'cmpl-___prefill_addr_a:1___decode_addr_b:2'],
  ])('have the sign of one in %j with the id %s', (body, clientRequestId) => {
    expect(forms.areIn({ body, clientRequestId })).toBe(true);
  });

  it('load the reader of a form with the first call that has its sign', async () => {
    const some = new LegForms();
    let loads = 0;
    const load = () => {
      loads += 1;
      return Promise.resolve({ legOf: () => ({ kind: 'meet', pair: 'a' }) as const });
    };
    some.add({ sign: { field: 'room' }, load });
    const call = { params: undefined, clientRequestId: undefined, stage: undefined };
    expect((await some.legOf({ ...call, body: { prompt: 'x' } })).kind).toBe('none');
    expect((await some.legOf({ ...call, params: {}, body: { room: 1 } })).kind).toBe('none');
    expect(loads).toBe(0);
    expect((await some.legOf({ ...call, body: { room: 1 } })).kind).toBe('meet');
    expect(loads).toBe(1);
  });

  it('are those of vLLM’s own parameters first, whatever else the call has', async () => {
    const body = { disaggregated_params: { request_type: 'context_only' } };
    const call = { body, clientRequestId: undefined, stage: undefined };
    const ofParams = async (params: Record<string, unknown>) =>
      (await forms.legOf({ ...call, params })).kind;
    expect(await ofParams({ do_remote_prefill: true, transfer_id: 'a' })).toBe('meet');
    expect(await ofParams({ do_remote_decode: true, ret_first_tok: true })).toBe('hold');
    expect(await ofParams({})).toBe('none');
  });
});
