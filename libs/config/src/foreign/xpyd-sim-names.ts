import type { BatonConfig } from '../config';
import type { ForeignMeaning, ForeignName, ForeignNames } from './foreign-name';

/** xPyD-sim's defaults for delays that a configuration leaves out. */
const DELAYS: Partial<BatonConfig> = {
  timeToFirstToken: 50,
  kvCacheTransferLatency: 5,
  interTokenLatency: 10,
};

const delay = (key: keyof BatonConfig): ForeignMeaning => ({
  kind: 'option',
  key,
  implies: DELAYS,
});
const same = (key: keyof BatonConfig): ForeignMeaning => ({ kind: 'option', key });

const MIN_RATIO: ForeignMeaning = {
  kind: 'refused',
  why: 'Baton draws the length of an answer from output_length, not below max_tokens',
};
const WARMUP: ForeignMeaning = {
  kind: 'refused',
  why: "Baton's warm-up has steps and percent; use warmup_steps and warmup_penalty",
};
const REQUEST_LOG: ForeignMeaning = {
  kind: 'left-out',
  why: 'log_requests names a file for the events of requests',
};
const PROFILE: ForeignMeaning = {
  kind: 'option',
  key: 'stepTimeFile',
  implies: { stepTime: 'polynomial' },
};

/** Without scheduling, xPyD-sim delays every request independently. */
const scheduling: ForeignName = (given) =>
  given === true || given === 'true' || given === '1'
    ? { kind: 'granted' }
    : { kind: 'left-out', why: 'Baton always batches requests' };

/** A single prefill or decode process waits for a proxy; a Baton topology has both. */
export const mode: ForeignName = (given) => {
  switch (given) {
    case 'dual':
      return { kind: 'option', key: 'topology', value: '1A' };
    case 'random':
      return { kind: 'granted' };
    case 'echo':
      return { kind: 'option', key: 'textModel', value: 'echo' };
    default:
      return {
        kind: 'refused',
        why: 'use a topology with both stages (1P1D); --expose-engines gives each engine a port',
      };
  }
};

/** YAML of `xpyd-sim serve --config`. */
export const XPYD_SIM_NAMES: ForeignNames = {
  mode,
  'latency.prefill_delay_ms': delay('timeToFirstToken'),
  'latency.kv_transfer_delay_ms': delay('kvCacheTransferLatency'),
  'latency.decode_delay_per_token_ms': delay('interTokenLatency'),
  'eos.min_ratio': MIN_RATIO,
  'warmup.requests': WARMUP,
  'warmup.penalty_ms': WARMUP,
  'logging.request_log': REQUEST_LOG,
  profile: PROFILE,
  'scheduling.max_model_len': same('maxModelLen'),
  'scheduling.max_num_batched_tokens': same('maxNumBatchedTokens'),
  'scheduling.max_num_seqs': same('maxNumSeqs'),
  'scheduling.enabled': scheduling,
};

/** Environment variables of xPyD-sim. */
export const XPYD_SIM_VARIABLES: ForeignNames = {
  XPYD_SIM_MODE: mode,
  XPYD_SIM_PORT: same('port'),
  XPYD_SIM_HOST: same('host'),
  XPYD_SIM_MODEL: same('servedModelName'),
  XPYD_SIM_PREFILL_DELAY_MS: delay('timeToFirstToken'),
  XPYD_SIM_KV_TRANSFER_DELAY_MS: delay('kvCacheTransferLatency'),
  XPYD_SIM_DECODE_DELAY_PER_TOKEN_MS: delay('interTokenLatency'),
  XPYD_SIM_EOS_MIN_RATIO: MIN_RATIO,
  XPYD_SIM_MAX_MODEL_LEN: same('maxModelLen'),
  XPYD_SIM_WARMUP_REQUESTS: WARMUP,
  XPYD_SIM_WARMUP_PENALTY_MS: WARMUP,
  XPYD_SIM_LOG_REQUESTS: REQUEST_LOG,
  XPYD_SIM_PROFILE: PROFILE,
  XPYD_SIM_MAX_NUM_BATCHED_TOKENS: same('maxNumBatchedTokens'),
  XPYD_SIM_MAX_NUM_SEQS: same('maxNumSeqs'),
  XPYD_SIM_SCHEDULING_ENABLED: scheduling,
  XPYD_SIM_REQUIRE_API_KEY: same('apiKey'),
};
