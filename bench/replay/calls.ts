import { Session } from 'node:inspector';
import { join, sep } from 'node:path';
import { simulate } from '@baton/simulation';
import { ROOT } from '../kept';
import { clusterOf, randomScenario } from './cluster-size';

/** What a request costs in a run under way, in counts. */
export interface Counts {
  readonly events_per_request: number;
  readonly steps_per_request: number;
  /** Calls of functions of the product, with the getters that the compiler adds. */
  readonly calls_per_request: number;
  readonly calls_per_event: number;
}

/** The functions of the product, as the compiler wrote them. */
const PRODUCT = join(ROOT, 'dist', 'libs') + sep;

/**
 * The counts of 4P8D without a front end, from V8's precise coverage. They are the differences of a
 * run of `count` requests and one of half as many, so that start and end do not count.
 */
export function countsOf(count: number): Counts {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const [half, whole] = [count / 2, count].map((requests) => counted(session, requests));
  session.disconnect();
  const perRequest = (name: 'events' | 'steps' | 'calls'): number => {
    return (whole![name] - half![name]) / (count / 2);
  };
  return {
    events_per_request: perRequest('events'),
    steps_per_request: perRequest('steps'),
    calls_per_request: perRequest('calls'),
    calls_per_event: perRequest('calls') / perRequest('events'),
  };
}

function counted(session: Session, requests: number) {
  const scenario = randomScenario(clusterOf('4P8D'), requests);
  callsSince(session);
  const { events, steps } = simulate(scenario);
  return { events, steps, calls: callsSince(session) };
}

/** Calls since the call of this function before. */
function callsSince(session: Session): number {
  let calls = 0;
  // The answer of a session in its own thread comes before `post` returns.
  session.post('Profiler.takePreciseCoverage', (error, answer) => {
    if (error !== null) throw error;
    for (const { url, functions } of answer.result) {
      if (!url.includes(PRODUCT)) continue;
      for (const { ranges } of functions) calls += ranges[0]!.count;
    }
  });
  return calls;
}
