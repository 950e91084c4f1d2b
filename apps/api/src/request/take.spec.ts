import { defaultConfig } from '@baton/config';
import type { RequestLimits } from '@baton/openai';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { ModelCatalog } from '../cluster/model-catalog';
import type { DueFrames } from '../frames/due-frames';
import type { Executions } from './executed/executions';
import type { TextSetup } from './plan/text-setup';
import type { Player } from './playing/player';
import { TakeStep } from './take';
import type { CheckedRequest, Call, Reading } from './take/call';
import { RequestThreads } from './threads/request-threads';

const LIMITS = { models: ['m'] };

interface World {
  readonly executes?: boolean;
  /** The frame that is due soon. */
  readonly frame?: Promise<void>;
}

function takeStep(world: World): TakeStep {
  const { executes = false, frame } = world;
  const executions = { answers: executes, check: () => ({ isExecuted: true }) };
  return new TakeStep(
    defaultConfig(),
    { limitsOf: () => LIMITS } as unknown as ModelCatalog,
    executions as unknown as Executions,
    {} as Player,
    new RequestThreads(defaultConfig(), {} as Transport, { parts: {} } as TextSetup, {} as Logger),
    { nextBefore: () => frame } as unknown as DueFrames,
  );
}

const call = {
  body: { prompt: 'x' },
  reader: {
    name: 'text',
    read: (body: unknown) => ({ body }) as unknown as Reading,
    check: (read: Reading, limits: RequestLimits) =>
      ({ ...read, limits }) as unknown as CheckedRequest,
  },
} as unknown as Call;

describe('taking a request', () => {
  it('reads the body within the limits of the model', async () => {
    expect(await takeStep({}).take(call)).toEqual({ body: call.body, limits: LIMITS });
  });

  it('passes the body unread to the server that answers it', () => {
    expect(takeStep({ executes: true }).take(call)).toEqual({ isExecuted: true });
  });

  it('begins after tokens that are due soon', async () => {
    const visits: string[] = [];
    const frame = Promise.resolve().then(() => void visits.push('tokens'));
    const read = (body: unknown): Reading => {
      visits.push('read');
      return { body } as unknown as Reading;
    };
    await takeStep({ frame }).take({
      ...call,
      reader: { ...call.reader, read },
    } as unknown as Call);
    expect(visits).toEqual(['tokens', 'read']);
  });
});
