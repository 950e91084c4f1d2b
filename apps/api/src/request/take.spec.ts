import { defaultConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { ModelCatalog } from '../cluster/model-catalog';
import { OpenDoor } from './take/open-door';
import type { Executions } from './executed/executions';
import type { Player } from './playing/player';
import { TakeStep } from './take';
import type { Asked, Call } from './take/call';

const LIMITS = { models: ['m'] };

interface World {
  readonly isClosing?: boolean;
  readonly isConnected?: boolean;
  readonly executes?: boolean;
}

function takeStep({ isClosing = false, isConnected = true, executes = false }: World): TakeStep {
  const door = new OpenDoor({ isConnected } as Transport);
  if (isClosing) door.close();
  const executions = { answers: executes, ask: () => ({ isExecuted: true }) };
  return new TakeStep(
    defaultConfig(),
    door,
    { limitsOf: () => LIMITS } as unknown as ModelCatalog,
    executions as unknown as Executions,
    {} as Player,
  );
}

const call = {
  body: { prompt: 'x' },
  ask: (body, limits) => ({ body, limits }) as unknown as Asked,
} as Call;

describe('taking a request', () => {
  it('asks for what the body says, within the limits of the model', () => {
    expect(takeStep({}).take(call)).toEqual({ body: call.body, limits: LIMITS });
  });

  it('leaves the body to the server that answers it', () => {
    expect(takeStep({ executes: true }).take(call)).toEqual({ isExecuted: true });
  });

  it.each([
    ['shutting_down', { isClosing: true, isConnected: false }],
    ['broker_unavailable', { isConnected: false }],
  ] as const)('is refused with %s before the body is looked at', (code, world) => {
    const step = takeStep(world);
    const unread = { ...call, ask: () => expect.unreachable() } as unknown as Call;
    expect(() => step.take(unread)).toThrow(new BatonError(code));
  });
});
