import { UsageError } from '@baton/config';
import { BatonError, type ChildMessage } from '@baton/contract';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { SupervisorLink } from './supervisor-link';

describe('the link to a supervisor', () => {
  const asked: ChildMessage[] = [];
  let answer: (message: unknown) => void = () => undefined;

  afterEach(() => {
    asked.length = 0;
    vi.useRealTimers();
  });

  function link(): SupervisorLink {
    return new SupervisorLink({
      send: (message) => void asked.push(message),
      onMessage: (listener) => (answer = listener),
    });
  }

  it('asks for engines, and matches answers that come in another order', async () => {
    const supervisor = link();
    const refused = supervisor.start('prefill', 2);
    const started = supervisor.start('decode', 1);
    expect(asked).toEqual([
      { kind: 'start-engines', id: 1, role: 'prefill', count: 2 },
      { kind: 'start-engines', id: 2, role: 'decode', count: 1 },
    ]);
    for (const other of ['noise', null, { kind: 'else' }, { kind: 'engines-started', id: 7 }]) {
      answer(other);
    }
    answer({ kind: 'engines-started', id: 2 });
    await started;
    answer({ kind: 'engines-started', id: 1, refusal: 'It does not fit.' });
    await expect(refused).rejects.toThrow(new UsageError('It does not fit.'));
  });

  it('cancels engines that have not joined yet', async () => {
    const cancelled = link().cancel();
    expect(asked).toEqual([{ kind: 'cancel-engines', id: 1 }]);
    answer({ kind: 'engines-cancelled', id: 1, count: 3 });
    expect(await cancelled).toBe(3);
  });

  it('gives up on a supervisor that does not answer', async () => {
    vi.useFakeTimers();
    const waiting = expect(link().start('decode', 1)).rejects.toThrow(
      new BatonError('supervisor_silent'),
    );
    await vi.advanceTimersByTimeAsync(5_000);
    await waiting;
  });

  it('does not exist in a process that no supervisor has started', () => {
    expect(SupervisorLink.ofThisProcess()).toBeUndefined();
  });
});
