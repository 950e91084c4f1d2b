import type { GenerationRequest } from '@baton/openai';
import type { OutputPlan } from '@baton/text';
import { describe, expect, it } from 'vitest';
import type { Generated } from '../../routers/leg';
import { disaggregatedParamsOf, opaqueStateOf } from './disaggregated-params';
import { legOf } from './leg';

/** As many bits as the orchestrator's numbers have. */
const ID = '7259873453121536042';
const HELD = { remote_engine_id: 'Zoë', remote_block_ids: [[1, 2]] };

function generated(endpoint: string): Generated {
  const prompts = [{ ids: Int32Array.of(11, 12) }, { ids: Int32Array.of(13) }];
  const plan = { tokenIds: Int32Array.of(7, 8) } as OutputPlan;
  const request = { endpoint, prompts, choices: 1, shownChoices: 1 } as unknown;
  return {
    request: request as GenerationRequest,
    results: [
      { plan, reason: 'length', count: 1 },
      { plan, reason: 'length', count: 2 },
    ],
    tokenizer: {} as Generated['tokenizer'],
  };
}

function shownBy(disaggregated: object, held: typeof HELD | undefined, endpoint = 'completions') {
  const params = { request_type: 'context_only', ...disaggregated };
  const body = { disaggregated_params: params };
  const leg = legOf({ body, params: undefined, clientRequestId: undefined, stage: undefined });
  if (leg?.kind !== 'hold') throw new Error('a context leg holds its prompt');
  return leg.shows(held, generated(endpoint));
}

describe('the answer of a context server', () => {
  it('has the parameters in the choice, with all digits of the number', () => {
    const { extras, kvTransferParams } = shownBy({ disagg_request_id: ID }, HELD);
    expect(kvTransferParams).toBeUndefined();
    expect(extras?.firstChoice?.['disaggregated_params']).toBe(
      '{"request_type":"context_only","first_gen_tokens":[7],' +
        `"ctx_request_id":${ID},"encoded_opaque_state":"${opaqueStateOf(HELD)}",` +
        `"draft_tokens":null,"disagg_request_id":${ID}}`,
    );
  });

  it('has the number 0 when the orchestrator gives none', () => {
    const { extras } = shownBy({}, HELD);
    expect(extras?.firstChoice?.['disaggregated_params']).toContain('"ctx_request_id":0,');
  });

  it.each([
    ['completions', '[[11,12],[13]]'],
    ['chat', '[11,12]'],
  ])('has the ids of the prompts: %s', (endpoint, ids) => {
    expect(shownBy({}, HELD, endpoint).extras?.body).toEqual({ prompt_token_ids: ids });
  });

  it('has no more than a token when no prompt is held', () => {
    expect(shownBy({}, undefined)).toEqual({ kvTransferParams: undefined });
  });
});

describe('the state of a context server', () => {
  it('comes back as it was sent', () => {
    const encoded_opaque_state = opaqueStateOf(HELD);
    const disaggregated_params = { request_type: 'generation_only', encoded_opaque_state };
    expect(disaggregatedParamsOf({ disaggregated_params })).toMatchObject({ params: HELD });
  });
});
