import { parseKvTransferParams } from '@baton/contract';
import { chosenSequences, type GenerationRequest } from '@baton/openai';
import { asciiJson, rawArray, rawIds, type RawJson, rawObject } from '@baton/text';
import {
  type Generated,
  type Leg,
  type LegFacts,
  pairOfTransfer,
  showsNothing,
  type Shows,
} from '../../routers/leg';
import { disaggregatedParamsOf, opaqueStateOf } from './disaggregated-params';

const FIELD = 'disaggregated_params';

/**
 * When the context leg comes first, the generation leg brings the context server's params;
 * otherwise both legs are under way and paired by their number.
 */
export function legOf({ body }: LegFacts): Leg | undefined {
  const disaggregated = disaggregatedParamsOf(body);
  if (disaggregated === undefined) return undefined;
  const { requestType, id, params, fault } = disaggregated;
  const pair = id === undefined ? undefined : pairOfTransfer(`trtllm ${id}`);
  if (fault !== undefined) return { kind: 'unusable', why: fault, field: FIELD };
  if (requestType === 'context_and_generation') return { kind: 'none' };
  if (requestType === 'context_only') {
    return { kind: 'hold', pairs: pair === undefined ? [] : [pair], shows: showsContext(id) };
  }
  if (params === undefined && pair !== undefined) return { kind: 'meet', pair };
  const held = parseKvTransferParams(params);
  if (held !== undefined) return { kind: 'attach', params: held };
  const why = `${FIELD} name no prompt that a context server here holds.`;
  return { kind: 'unusable', why, field: FIELD };
}

/**
 * `DisaggregatedParams` of tensorrt_llm/serve/openai_protocol.py in the choice, and the ids of the
 * prompts. The number has more digits than a JavaScript number holds. It is not secret.
 */
function showsContext(id = '0'): Shows {
  return (held, generated) => {
    if (held === undefined) return showsNothing(held, generated);
    const disaggregatedParams = rawObject({
      request_type: '"context_only"',
      first_gen_tokens: firstTokensOf(generated),
      ctx_request_id: id,
      encoded_opaque_state: asciiJson(opaqueStateOf(held)),
      draft_tokens: 'null',
      disagg_request_id: id,
    });
    return {
      kvTransferParams: undefined,
      extras: {
        body: { prompt_token_ids: promptIdsOf(generated.request) },
        firstChoice: { [FIELD]: disaggregatedParams },
      },
    };
  };
}

/** The ids of the first choice. */
function firstTokensOf({ request, results, tokenizer }: Generated): RawJson {
  const [first] = chosenSequences(request, results, tokenizer);
  return rawIds(first?.result.plan.tokenIds.slice(0, first.result.count) ?? []);
}

/** One list of ids per prompt of a completion; a chat has one prompt. */
function promptIdsOf({ endpoint, prompts }: GenerationRequest): RawJson {
  const all = prompts.map(({ ids }) => rawIds(ids));
  return endpoint === 'chat' ? (all[0] ?? '[]') : rawArray(all);
}
