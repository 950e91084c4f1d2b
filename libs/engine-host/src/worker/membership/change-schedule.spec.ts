import { type BatonConfig, defaultConfig } from '@baton/config';
import type { Stage } from '@baton/contract';
import { createLogger } from '@baton/telemetry';
import { attachInProcess, InProcessHub, type Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ManualWallClock } from '../../../../clock/test/manual-wall-clock';
import { STAGE_WAYS } from '../../../test/stage-ways';
import { WorkerHosts } from '../worker-hosts';
import { ChangeSchedule } from './change-schedule';
import { LiveMembership } from './membership';

const SECOND = 1_000_000;

describe('a schedule of a live cluster', () => {
  let wall: ManualWallClock;
  let hub: InProcessHub;
  let workers: WorkerHosts;
  let membership: LiveMembership;
  let schedule: ChangeSchedule;
  let said: string[];
  let startUs: number;

  beforeEach(() => {
    wall = new ManualWallClock();
    hub = new InProcessHub();
    said = [];
    startUs = wall.nowUs();
  });
  afterEach(async () => {
    schedule.stop();
    await workers.stop(0);
  });

  async function start(
    changes: string,
    overrides: Partial<BatonConfig> = {},
    transport: Transport = attachInProcess(hub),
  ): Promise<void> {
    const config = defaultConfig({ topology: '2P2D', changes, ...overrides });
    const log = createLogger({ name: 'test', level: 'silent' });
    const engines = { prefill: 2, decode: 2 };
    const back = attachInProcess(hub);
    workers = await WorkerHosts.start({
      stages: STAGE_WAYS,
      config,
      engines,
      transport: back,
      log,
      wall,
    });
    const starter = { start: workers.join.bind(workers) };
    membership = new LiveMembership({ config, transport, starter, wall });
    const say = (sentence: string): void => {
      said.push(`${Math.round((wall.nowUs() - startUs) / 10_000) / 100} s: ${sentence}`);
    };
    schedule = new ChangeSchedule({ config, membership, say, wall });
    void schedule.run();
  }

  async function counts(): Promise<string> {
    const engines = await membership.engines();
    const of = (role: Stage): number => engines.filter((engine) => engine.role === role).length;
    return `${of('prefill')}P${of('decode')}D${of('aggregated')}A`;
  }

  it('carries out each change at its instant, faster at speedup', async () => {
    await start('10s:+1D,20s:-1P,40s:1D>A,40s:+1P', { speedup: 10 });
    const seen: string[] = [];
    await wall.advance(SECOND / 2);
    for (let tick = 0; tick < 5; tick += 1) {
      seen.push(await counts());
      await wall.advance(SECOND);
    }
    expect(seen).toEqual(['2P2D0A', '2P3D0A', '1P3D0A', '1P3D0A', '2P2D1A']);
    // The next check shows that an order has been carried out.
    expect(said).toEqual([
      '1 s: change 10s:+1D',
      '2.05 s: change 20s:-1P',
      '4.05 s: change 40s:1D>A',
      '4.05 s: change 40s:+1P',
    ]);
  });

  it('begins when all engines of the topology are ready', async () => {
    await start('1s:+1D', { startupDuration: 5 });
    await wall.advance(5.5 * SECOND);
    expect(said).toEqual([]);
    await wall.advance(SECOND);
    expect(said).toHaveLength(1);
  });

  it('repeats an order that no engine received', async () => {
    const transport = attachInProcess(hub);
    const { bus } = transport;
    let lost = 3;
    const publish = bus.publish.bind(bus);
    bus.publish = (channel, payload) => {
      if (channel.startsWith('engine:') && lost > 0) lost -= 1;
      else publish(channel, payload);
    };
    await start('1s:-1P', {}, transport);
    await wall.advance(4 * SECOND);
    expect(lost).toBe(0);
    expect(await counts()).toBe('1P2D0A');
    expect(said[0]).toMatch(/change 1s:-1P$/);
  });

  it('reports a change that failed, and continues', async () => {
    await start('1s:-1P,3s:+1D');
    const [prefill] = (await membership.engines()).filter(({ role }) => role === 'prefill');
    const leaving = membership.leave(prefill?.engineId ?? '');
    await wall.advance(2 * SECOND);
    expect((await leaving).engineId).toBe(prefill?.engineId);
    expect(said).toEqual([expect.stringContaining('was not carried out: It is the last prefill')]);
    await wall.advance(2 * SECOND);
    expect(await counts()).toBe('1P3D0A');
  });

  it('does nothing more once it is stopped', async () => {
    await start('1s:+1D,2s:+1D');
    await wall.advance(1.5 * SECOND);
    schedule.stop();
    await wall.advance(3 * SECOND);
    expect(await counts()).toBe('2P3D0A');
  });
});
