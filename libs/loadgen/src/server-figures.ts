import { samplesOf } from './metric-samples';
import type { ServerAccess } from './server-access';
import { type EngineStepLag, stepLagsIn } from './step-lag';
import { type EngineStepTimes, stepTimesIn } from './step-times';

const ASK_MS = 10_000;

/** The figures that the engines of a Baton server report. */
export interface ServerFigures {
  readonly stepTimes: readonly EngineStepTimes[];
  readonly stepLags: readonly EngineStepLag[];
}

/** Nothing when the server is of another kind or does not answer within 10 s. */
export async function readServerFigures({
  origin,
  prefix,
  headers,
}: Pick<ServerAccess, 'origin' | 'prefix' | 'headers'>): Promise<ServerFigures> {
  try {
    const signal = AbortSignal.timeout(ASK_MS);
    const answer = await fetch(`${origin}${prefix}/metrics`, { headers, signal });
    return figuresIn(answer.ok ? await answer.text() : '');
  } catch {
    return figuresIn('');
  }
}

/** @param page  in the text format of Prometheus */
export function figuresIn(page: string): ServerFigures {
  const samples = samplesOf(page);
  return { stepTimes: stepTimesIn(samples), stepLags: stepLagsIn(samples) };
}
