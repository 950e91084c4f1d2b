import { settle } from '../../../clock/test/manual-wall-clock';
import { attachInProcess, InProcessHub, type Transport } from '@baton/transport';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type BatonConfig, defaultConfig } from '../config';
import { UsageError } from '../usage-error';
import { CHANGEABLE, changeableValues, readChanges } from './changeable';
import { LiveSettings } from './live-settings';

const CUT = { at: 'queue', fault: 'cut' };

describe('settings that change at run time', () => {
  let hub: InProcessHub;
  let nowUs = 0;
  const open: { settings: LiveSettings; transport: Transport }[] = [];

  beforeEach(() => {
    hub = new InProcessHub();
    nowUs = 1_000;
  });

  afterEach(async () => {
    for (const { settings, transport } of open.splice(0)) {
      await settings.stop();
      await transport.close();
    }
  });

  async function join(overrides: Partial<BatonConfig> = {}): Promise<LiveSettings> {
    const config = defaultConfig({ enableAdmin: true, ...overrides });
    const transport = attachInProcess(hub);
    const settings = new LiveSettings({ config, transport, nowUs: () => nowUs });
    await settings.start();
    open.push({ settings, transport });
    return settings;
  }

  it('begin with the configuration of the cluster’s start', async () => {
    const { current } = await join({ placement: 'round-robin' });
    expect([current.revision, current.config.placement]).toEqual([0, 'round-robin']);
    expect(current.sinceUs('faults')).toBe(1_000);
  });

  it('reach every process, including later ones', async () => {
    const [first, second] = [await join(), await join()];
    const seen: number[] = [];
    second.follow(({ revision }) => seen.push(revision));
    nowUs = 5_000;
    const changed = await first.change({ faults: [CUT], 'failure-injection-rate': 10 });
    expect([changed.revision, changed.config.failureInjectionRate]).toEqual([1, 10]);
    await settle();
    nowUs = 9_000;
    const late = await join();
    for (const { current } of [second, late]) {
      expect(current.revision).toBe(1);
      expect(changeableValues(current.config)['faults']).toEqual([{ name: 'fault-1', ...CUT }]);
      expect([current.sinceUs('faults'), current.sinceUs('placement') > 0]).toEqual([5_000, true]);
    }
    expect(seen).toEqual([0, 1]);
  });

  it('keep options that a change does not name, and unset those named with null', async () => {
    const settings = await join({ decodePlacement: 'random' });
    await settings.change({ faults: [CUT], decode_placement: null });
    const { config, revision } = await settings.change({ placement: 'random' });
    expect([config.placement, config.decodePlacement, revision]).toEqual(['random', undefined, 2]);
    expect(config.faults).toContain('cut');
    expect((await settings.change({ faults: null })).config.faults).toBeUndefined();
  });

  it('merge fake metrics with the current ones', async () => {
    const settings = await join({ fakeMetrics: '{"running-requests":3}' });
    await settings.change({ 'fake-metrics': { 'kv-cache-usage': 0.5 } });
    const { config } = await settings.change({ fake_metrics: { running_requests: 4 } });
    expect(JSON.parse(config.fakeMetrics ?? '')).toEqual({
      'running-requests': 4,
      'kv-cache-usage': 0.5,
    });
  });

  it.each([
    [{ speedup: 2 }, 'speedup cannot change while the cluster runs; these can: faults, failure'],
    [{ fualts: [] }, "unknown option 'fualts'; did you mean 'faults'?"],
    [{ crash_after: 'held' }, "unknown option 'crash_after'"],
    [{ failure_injection_rate: 101 }, 'failure_injection_rate must be an integer from 0 to 100.'],
    [{ placement: 'best' }, 'placement must be one of pull, '],
    [{ placement: null }, 'placement must be one of pull, '],
    [{ faults: [CUT, { at: 'queue' }] }, 'faults[1].fault must be one of error, delay'],
    [{ fake_metrics: { 'kv-cache-usage': 3 } }, 'fake_metrics.kv-cache-usage must be a number'],
  ])('refuse %j, and change nothing of what came with it', async (wrong, sentence) => {
    const settings = await join();
    const change = settings.change({ failure_types: ['rate_limit'], ...wrong });
    await expect(change).rejects.toThrow(sentence);
    expect(settings.current.revision).toBe(0);
    expect(settings.current.config.failureTypes).toEqual([]);
  });

  it('refuse all other input with one short sentence', () => {
    const config = defaultConfig();
    const names = fc.oneof(fc.string(), fc.constantFrom(...CHANGEABLE.map(String), 'speedup'));
    const shallow = fc.object({ maxDepth: 3 });
    const values = fc.oneof(fc.jsonValue(), shallow, fc.array(shallow));
    fc.assert(
      fc.property(fc.dictionary(names, values), (given) => {
        try {
          readChanges(JSON.parse(JSON.stringify(given)) as Record<string, unknown>, config);
        } catch (error) {
          expect(error).toBeInstanceOf(UsageError);
          expect(String(error).length).toBeLessThan(1_000);
        }
      }),
    );
    const long = { ['x'.repeat(1_000_000)]: 1 };
    expect(() => readChanges(long, config)).toThrow("unknown option 'xxxx");
  });

  it('lose no change of two processes at once', async () => {
    const [first, second] = [await join(), await join()];
    await first.change({ placement: 'random' });
    await settle();
    await Promise.all([
      first.change({ failure_injection_rate: 1 }),
      second.change({ failure_types: ['rate_limit'] }),
    ]);
    await settle();
    for (const { current } of [first, second]) {
      expect(current.revision).toBe(3);
      const { failureInjectionRate, failureTypes, placement } = current.config;
      expect([failureInjectionRate, failureTypes, placement]).toEqual([
        1,
        ['rate_limit'],
        'random',
      ]);
    }
  });

  it('survive a broker that has lost its data', async () => {
    const settings = await join();
    await settings.change({ placement: 'random' });
    hub.goAway();
    await expect(settings.change({ placement: 'pull' })).rejects.toThrow('not reachable');
    hub.comeBack({ withoutData: true });
    await settle();
    const late = await join();
    expect([late.current.revision, late.current.config.placement]).toEqual([1, 'random']);
    expect((await late.change({ failure_injection_rate: 1 })).revision).toBe(2);
  });

  it('never change without enable_admin', async () => {
    const settings = await join();
    const plain = await join({ enableAdmin: false });
    await settings.change({ placement: 'random' });
    await settle();
    expect(plain.current.config.placement).toBe('pull');
  });
});
