import { defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, type Transport, TransportUnavailable } from '@baton/transport';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualWallClock } from '../../../clock/test/manual-wall-clock';
import { STAGE_WAYS } from '../../test/stage-ways';
import { WorkerHosts } from './worker-hosts';

describe('an engine that cannot be started', () => {
  let transport: Transport;
  let workers: WorkerHosts;
  let whileStarting: () => Promise<void>;
  let left: Promise<void>;

  beforeEach(async () => {
    transport = attachInProcess();
    workers = await WorkerHosts.start({
      config: defaultConfig(),
      engines: { aggregated: 1 },
      stages: STAGE_WAYS,
      transport,
      log: createLogger({ name: 'test', level: 'silent' }),
      wall: new ManualWallClock(),
    });
    whileStarting = () => Promise.resolve();
    vi.spyOn(transport.bus, 'subscribe').mockImplementationOnce(() => {
      left = whileStarting();
      return Promise.reject(new TransportUnavailable('lost'));
    });
  });

  it('is not counted, and the others leave as usual', async () => {
    await expect(workers.join('aggregated', 1)).rejects.toThrow('lost');
    expect(workers.counts.aggregated).toBe(1);
    await workers.stop(0);
    await transport.close();
  });

  it('does not keep the others from leaving while it starts', async () => {
    whileStarting = () => workers.stop(0);
    await expect(workers.join('aggregated', 1)).rejects.toThrow('lost');
    await left;
    await transport.close();
  });
});

it('ends its engines and its routing while the broker is away', async () => {
  const transport = attachInProcess();
  const lost = (): Promise<void> => Promise.reject(new TransportUnavailable('lost'));
  vi.spyOn(transport.bus, 'subscribe').mockImplementation(() => Promise.resolve(lost));
  const workers = await WorkerHosts.start({
    config: defaultConfig({ placement: 'least-requests' }),
    engines: { aggregated: 1 },
    stages: STAGE_WAYS,
    transport,
    log: createLogger({ name: 'test', level: 'silent' }),
    wall: new ManualWallClock(),
  });
  await workers.stop(0);
  await transport.close();
});
