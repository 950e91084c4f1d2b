import type { BatonConfig } from '@baton/config';
import type { Dialect } from '@baton/openai';
import { expect } from 'vitest';
import { SequenceTable } from '../../../apps/api/src/sequences/sequence-table';
import { ApiFixture } from '../../../apps/api/test/api-fixture';
import { until } from '../../../apps/api/test/until';

export const MODEL = 'llama-3.1-8b';
export const QUESTION = 'What will the weather be in Oslo?';

/** The schema of tools and structured answers. */
export const FORECAST = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 1, maximum: 7 } },
  required: ['city', 'days'],
  additionalProperties: false,
} as const;

export interface Forecast {
  readonly city: string;
  readonly days: number;
}

/** Checks that a value fits `FORECAST`. */
export function expectForecast(value: unknown): void {
  const { city, days } = value as Forecast;
  expect(typeof city).toBe('string');
  expect(Number.isInteger(days) && days >= 1 && days <= 7, JSON.stringify(value)).toBe(true);
}

/** A front with an engine that answers at once, and that calls a tool once if one fits. */
export function openServer(
  dialect: Dialect,
  config: Partial<BatonConfig> = {},
): Promise<ApiFixture> {
  const calls = { toolCallExtraCallProbability: 0 };
  return ApiFixture.start({
    config: { dialect, ...calls, ...config },
    engines: [{ isEager: true }],
  });
}

/**
 * Runs a request that does not end by itself and whose client disconnects: the engine gets an abort
 * and the front drops the request. A streaming request aborts after its first bytes. Any other is
 * aborted here, when an engine has it.
 */
export async function expectFreed(
  dialect: Dialect,
  mode: 'streamed' | 'whole',
  start: (url: string, leave: AbortController) => Promise<unknown>,
): Promise<void> {
  const fixture = await ApiFixture.start({ config: { dialect } });
  try {
    const leave = new AbortController();
    const over = start(fixture.api.url, leave).catch((error: unknown) => error);
    const run = await fixture.engine.next();
    for (let at = 0; at < 3; at++) run.token(at);
    if (mode === 'whole') leave.abort();
    await until(() => fixture.engine.abortedIds.includes(run.job.requestId));
    expect(fixture.api.app.get(SequenceTable).size).toBe(0);
    await over;
  } finally {
    await fixture.stop();
  }
}

export type Trouble = 429 | 500 | 503;

/** The outcome of `ask` at a server that is full, has failing engines, or has lost its broker. */
export async function troubleWith(
  dialect: Dialect,
  status: Trouble,
  ask: (url: string) => Promise<unknown>,
): Promise<unknown> {
  const isFull = status === 429;
  const fixture = await ApiFixture.start({
    config: { dialect, maxWaitingRequests: 1, shutdownTimeout: 0.1 },
    engines: [{ takes: () => !isFull }],
  });
  try {
    if (isFull) {
      void fixture.post('/v1/completions', { prompt: 'x' }).catch(() => undefined);
      await until(() => fixture.api.app.get(SequenceTable).size === 1);
    }
    if (status === 503) fixture.hub.goAway();
    const outcome = ask(fixture.api.url).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (status === 500) {
      const run = await fixture.engine.next();
      run.endSequence({ reason: 'error', tail: 'engine_error', first: 0, count: 0 });
    }
    return await outcome;
  } finally {
    if (status === 503) fixture.hub.comeBack();
    await fixture.stop();
  }
}
