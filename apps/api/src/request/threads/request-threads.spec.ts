import { defaultConfig } from '@baton/config';
import { spendWork } from '@baton/kernel';
import type { RequestLimits } from '@baton/openai';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { TextSetup } from '../plan/text-setup';
import type { Reading } from '../take/call';
import { type CallFor, RequestThreads } from './request-threads';

const LIMITS = { models: ['m'] } as unknown as RequestLimits;

/** More than the bodies of one turn may spend. */
const WORK = 10_000;

describe('the reading of bodies on the event loop', () => {
  it('takes several turns when bodies that need long arrive together', async () => {
    const threads = new RequestThreads(
      defaultConfig(),
      {} as Transport,
      { parts: {} } as TextSetup,
      {} as Logger,
    );
    let reads = 0;
    const read = (): Reading => {
      reads += 1;
      spendWork(WORK);
      return {} as Reading;
    };
    const call = { body: {}, reader: { name: 'text', read } } as unknown as CallFor<Reading>;
    const all = Promise.all([0, 1, 2].map(() => threads.read(call, LIMITS)));
    expect(reads).toBe(1);
    await all;
    expect(reads).toBe(3);
  });
});
