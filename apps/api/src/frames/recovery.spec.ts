import { defaultConfig } from '@baton/config';
import type { Logger } from '@baton/telemetry';
import type { Transport } from '@baton/transport';
import { expect, it, vi } from 'vitest';
import type { ClusterView } from '../cluster/cluster-view';
import type { Sequence } from '../sequences/sequence';
import type { SequenceTable } from '../sequences/sequence-table';
import type { Aborter } from './aborter';
import type { JobMover } from './job-mover';
import { Recovery } from './recovery';
import type { Resender } from './resender';
import type { Resubmitter } from './resubmitter';

it('goes on with the next sweep when an answer cannot be ended', async () => {
  const broken = new Error('cannot be rendered');
  const logged = vi.fn();
  const onFailure = vi.fn().mockImplementationOnce(() => {
    throw broken;
  });
  const sequence = { job: {}, waitingIn: 'decode', owner: { onFailure } } as unknown as Sequence;
  const recovery = new Recovery(
    { isConnected: false, processClock: { awakeMs: () => performance.now() } } as Transport,
    defaultConfig(),
    { error: logged } as unknown as Logger,
    [sequence] as unknown as SequenceTable,
    {} as Resubmitter,
    {} as Aborter,
    {} as Resender,
    { isReady: () => false, wasReadyLately: () => false } as unknown as ClusterView,
    {} as JobMover,
  );
  await recovery.sweep(performance.now());
  expect(logged).toHaveBeenCalledWith({ err: broken }, expect.any(String));
  await recovery.sweep(performance.now());
  expect(onFailure).toHaveBeenCalledTimes(2);
});
