import { BatonError } from '@baton/contract';
import type { Transport } from '@baton/transport';
import { describe, expect, it } from 'vitest';
import { AcceptingState } from './accepting-state';
import { AcceptingGuard } from './accepting.guard';

describe('a process', () => {
  it.each([
    ['shutting_down', { isClosing: true, isConnected: false }],
    ['broker_unavailable', { isClosing: false, isConnected: false }],
  ] as const)('refuses requests with %s', (code, { isClosing, isConnected }) => {
    const state = new AcceptingState({ isConnected } as Transport);
    if (isClosing) state.stopAccepting();
    expect(() => new AcceptingGuard(state).canActivate()).toThrow(new BatonError(code));
  });

  it('takes requests while its broker is connected', () => {
    const state = new AcceptingState({ isConnected: true } as Transport);
    expect(new AcceptingGuard(state).canActivate()).toBe(true);
  });
});
