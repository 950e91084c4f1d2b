import type { PictureRates } from '@baton/contract';
import { formatCount } from '../format';
import type { HealthFinding } from './health';

interface Reason {
  /** Completes "Admission refuses requests:". */
  readonly because: string;
  readonly remedy: string;
}

/** The limit behind each error code of a refusal, and the option that changes it. */
const REASONS: Readonly<Record<string, Reason>> = {
  queue_full: {
    because: 'the queue of waiting requests is full',
    remedy: 'Raise max_waiting_requests, add engines, or send less.',
  },
  too_many_websockets: {
    because: 'too many WebSocket connections are open',
    remedy: 'Raise max_websockets, or close connections that wait.',
  },
  slo_unattainable: {
    because: 'the first token is predicted to come after its limit',
    remedy: 'Raise admission_slo_ttft or the TTFT target of the SLO class, or add engines.',
  },
  admission_refused: {
    because: 'your admission policy refuses them',
    remedy: 'The module in the option admission decides. Change its rule, or add engines.',
  },
  flow_queue_full: {
    because: 'the flow control queue is full',
    remedy: 'Raise flow_control_queue or flow_control_total_queue, or add engines.',
  },
  flow_shed: {
    because: 'flow control gives their places to higher SLO classes',
    remedy: 'Raise flow_control_total_queue, add engines, or send less of the higher classes.',
  },
  flow_timeout: {
    because: 'they wait too long for their turn in flow control',
    remedy: 'Raise flow_control_timeout or flow_control_concurrency, or add engines.',
  },
  request_rate_exceeded: {
    because: 'a tenant exceeds its requests per minute',
    remedy: 'Raise limit_requests_per_minute, or send less with this API key.',
  },
  token_rate_exceeded: {
    because: 'a tenant exceeds its tokens per minute',
    remedy: 'Raise limit_tokens_per_minute, or send less with this API key.',
  },
  no_engine: {
    because: 'no engine is ready for a stage',
    remedy: 'Start an engine of the missing role, or wait until one that starts is ready.',
  },
  shutting_down: {
    because: 'the API process drains before it stops',
    remedy: 'Send requests to another API process, or start the cluster again.',
  },
  broker_unavailable: {
    because: 'Redis is not reachable',
    remedy: 'Start Redis again, or correct REDIS_URL.',
  },
  broker_out_of_memory: {
    because: 'Redis is out of memory',
    remedy: 'Raise the maxmemory of Redis, or send less.',
  },
  threads_busy: {
    because: 'too many large requests wait to be read',
    remedy: 'Send fewer large prompts at once.',
  },
  injected_fault: {
    because: 'an injected fault refuses them',
    remedy: 'Remove the fault in the panel Settings, or set the option faults to [].',
  },
};

/** The reason is unknown in a recorded run. */
const UNKNOWN: Reason = {
  because: '',
  remedy:
    'A full queue, the admission policy or flow control refuses requests before they run. Raise ' +
    'that limit, add engines, or send less.',
};

/** The texts of refusals; the most frequent reason is in the title. */
export function refusalTexts({
  refusedPerSecond,
  refusals,
}: Pick<PictureRates, 'refusedPerSecond' | 'refusals'>): Pick<
  HealthFinding,
  'title' | 'detail' | 'advice'
> {
  const reasons = refusals.map(({ code, perSecond }) => ({ ...reasonOf(code), perSecond }));
  const [first = UNKNOWN, ...others] = reasons;
  const title = 'Admission refuses requests';
  const rate = `${formatCount(refusedPerSecond)} requests/s get status 429 or 503`;
  const parts = reasons.map(({ because, perSecond }) => `${because} (${formatCount(perSecond)}/s)`);
  return {
    title: first.because === '' ? title : `${title}: ${first.because}`,
    detail: others.length === 0 ? `${rate}.` : `${rate}: ${parts.join('; ')}.`,
    advice: [...new Set([first, ...others].map(({ remedy }) => remedy))].join(' '),
  };
}

function reasonOf(code: string): Reason {
  return REASONS[code] ?? { ...UNKNOWN, because: `error ${code}` };
}
