import { type FrontEnd, FrontEndError, frontEndFromFields, VLLM_FRONT_END } from '@baton/front-end';
import { type BatonConfig, configForStage } from '../config';
import { UsageError } from '../usage-error';
import { givenFields } from './given-fields';

/** Step times that are a server's latencies, seen by a client. */
const SEEN_BY_CLIENTS: ReadonlySet<BatonConfig['stepTime']> = new Set(['constant', 'per-token']);

/**
 * The servers in front of the engines, as the option has them; undefined: none, and none where the
 * option is not set.
 *
 * @throws UsageError, one sentence
 */
export function frontEndOf({ frontend }: Pick<BatonConfig, 'frontend'>): FrontEnd | undefined {
  if (frontend === undefined || frontend === 'none') return undefined;
  if (frontend === VLLM_FRONT_END.name) return VLLM_FRONT_END;
  const fields = givenFields('frontend', frontend);
  if (fields === undefined) {
    throw new UsageError(
      `frontend must be vllm, none, the path of a YAML file, or {fields}; '${frontend}' is none ` +
        'of these.',
    );
  }
  try {
    return frontEndFromFields(fields.content, fields.where);
  } catch (error) {
    if (error instanceof FrontEndError) throw new UsageError(error.message);
    throw error;
  }
}

/**
 * The configuration of a run on the virtual clock whose users are to see a real server's latency:
 * where nobody chose a front end it has vLLM's, unless the time of a prompt was given as clients
 * see it.
 */
export function withFrontEnd(config: BatonConfig): BatonConfig {
  if (config.frontend !== undefined) return config;
  const { stepTime } = configForStage(config, 'prefill');
  return { ...config, frontend: SEEN_BY_CLIENTS.has(stepTime) ? 'none' : VLLM_FRONT_END.name };
}
