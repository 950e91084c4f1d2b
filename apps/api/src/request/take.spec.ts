import { defaultConfig } from '@baton/config';
import { BatonError } from '@baton/contract';
import type { RequestLimits } from '@baton/openai';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import type { ModelCatalog } from '../cluster/model-catalog';
import { OpenDoor } from './take/open-door';
import type { Executions } from './executed/executions';
import type { Player } from './playing/player';
import { TakeStep } from './take';
import type { Asked, Call, Reading } from './take/call';
import type { RequestThreads } from './threads/request-threads';

const LIMITS = { models: ['m'] };
const IN_A_THREAD = {} as Asked;

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
    { take: () => IN_A_THREAD } as unknown as RequestThreads,
  );
}

const call = {
  body: { prompt: 'x' },
  ask: {
    name: 'text',
    read: (body: unknown) => ({ body }) as unknown as Reading,
    asked: (read: Reading, limits: RequestLimits) => ({ ...read, limits }) as unknown as Asked,
  },
} as unknown as Call;

describe('taking a request', () => {
  it('reads the body within the limits of the model', () => {
    expect(takeStep({}).take(call)).toEqual({ body: call.body, limits: LIMITS });
  });

  it('passes the body unread to the server that answers it', () => {
    expect(takeStep({ executes: true }).take(call)).toEqual({ isExecuted: true });
  });

  it.each(['response_format', 'tools'])('leaves a body with %s to the threads', (field) => {
    const heavy = { ...call, body: { prompt: 'x', [field]: {} } };
    expect(takeStep({}).take(heavy)).toBe(IN_A_THREAD);
  });

  it('leaves it to the threads also when the reader has no name there: they bound its work', () => {
    const { name: _name, ...ask } = call.ask;
    expect(takeStep({}).take({ ...call, ask, body: { tools: [] } })).toBe(IN_A_THREAD);
  });

  it.each([
    ['shutting_down', { isClosing: true, isConnected: false }],
    ['broker_unavailable', { isConnected: false }],
  ] as const)('is refused with %s before the body is looked at', (code, world) => {
    const step = takeStep(world);
    const ask = { name: 'text', read: () => expect.unreachable() };
    const unread = { ...call, ask } as unknown as Call;
    expect(() => step.take(unread)).toThrow(new BatonError(code));
  });
});
