import { type FrontEnd, FrontEndError, frontEndFromFields, VLLM_FRONT_END } from '@baton/step-time';
import { type BatonConfig, configForStage } from '../config';
import { UsageError } from '../usage-error';
import { givenFields } from './given-fields';
import { frontEndInFile } from './step-time-file';

/** Step times that are latencies of a server as measured by a client. */
const SEEN_BY_CLIENTS: ReadonlySet<BatonConfig['stepTime']> = new Set(['constant', 'per-token']);

type FrontEndOptions = Pick<BatonConfig, 'frontend' | 'apiServerCount'>;

/**
 * The servers in front of the engines, from the option. Undefined when engines run without servers,
 * which is the default.
 *
 * @throws UsageError, one sentence
 */
export function frontEndOf({ frontend, apiServerCount }: FrontEndOptions): FrontEnd | undefined {
  if (frontend === undefined || frontend === 'none') return undefined;
  return { ...oneServer(frontend), serversPerEngine: apiServerCount };
}

function oneServer(frontend: string): FrontEnd {
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

/** Step times that read no file. */
const WITHOUT_FILE: ReadonlySet<BatonConfig['stepTime']> = new Set(['composed', 'roofline']);

/**
 * The configuration of a run on the virtual clock, with a front end, so that its latencies are
 * those of a real server. By default it is the front end of the fitted profile, else vLLM's. Where
 * the time of a prompt was measured by clients it is none.
 *
 * @throws UsageError when the profile cannot be read
 */
export function withFrontEnd(config: BatonConfig): BatonConfig {
  return config.frontend === undefined ? { ...config, frontend: impliedFrontEnd(config) } : config;
}

function impliedFrontEnd(config: BatonConfig): string {
  const { stepTime, stepTimeFile } = configForStage(config, 'prefill');
  if (SEEN_BY_CLIENTS.has(stepTime)) return 'none';
  if (stepTimeFile === undefined || WITHOUT_FILE.has(stepTime)) return VLLM_FRONT_END.name;
  const frontEnd = frontEndInFile(stepTimeFile);
  if (frontEnd === undefined) return VLLM_FRONT_END.name;
  return frontEnd === 'included' ? 'none' : JSON.stringify(frontEnd);
}
