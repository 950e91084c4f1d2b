import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runsOf } from '../../../../test/support/runs';
import { namesLeg } from '../request/route/route';
import { disaggregatedParamsOf, opaqueStateOf } from './disaggregated-params';
import { legOf } from './leg';

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

describe('legs of outside routers', () => {
  it('are classified for any content', () => {
    fc.assert(
      fc.property(facts, (each) => {
        const leg = legOf(each);
        expect(KINDS).toContain(leg.kind);
        if (leg.kind === 'attach') expect(leg.params.remote_engine_id).toEqual(expect.any(String));
        if (leg.kind === 'unusable') expect(leg.why).toMatch(/\.$/);
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it('are `none` when neither the parameters nor the call name one', () => {
    fc.assert(
      fc.property(facts, (each) => {
        if (namesLeg(each)) return;
        expect(legOf({ ...each, params: undefined })).toEqual({ kind: 'none' });
      }),
      { numRuns: runsOf(2_000) },
    );
  });

  it.each([
    [{ kv_transfer_params: null }, undefined],
    [{ disaggregated_params: {} }, undefined],
    [{ bootstrap_room: [1] }, undefined],
    [{}, 'cmpl-___prefill_addr_a:1___decode_addr_b:2'],
  ])('are named by %j with the id %s', (body, clientRequestId) => {
    expect(namesLeg({ body, clientRequestId })).toBe(true);
  });

  it('get back the state that a context server has sent', () => {
    const params = { remote_engine_id: 'Zoë', remote_block_ids: [[1, 2]] };
    const encoded_opaque_state = opaqueStateOf(params);
    const disaggregated_params = { request_type: 'generation_only', encoded_opaque_state };
    expect(disaggregatedParamsOf({ disaggregated_params })).toMatchObject({ params });
  });
});
