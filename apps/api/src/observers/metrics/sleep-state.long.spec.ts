import { afterEach, describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../../test/cluster-fixture';
import { until } from '../../../test/until';

describe('vllm:engine_sleep_state', () => {
  let cluster: ClusterFixture;

  afterEach(() => cluster.stop());

  const post = (path: string): Promise<Response> =>
    fetch(`${cluster.api.url}${path}`, { method: 'POST' });

  /** Counts of both engines, in the order of vLLM's states. */
  async function states(): Promise<number[]> {
    const names = ['awake', 'weights_offloaded', 'discard_all'];
    return Promise.all(
      names.map((name) => cluster.metric('vllm:engine_sleep_state', { sleep_state: name })),
    );
  }

  it.each([
    ['/sleep?level=1', [0, 2, 0]],
    ['/sleep?level=2', [0, 0, 2]],
    ['/sleep?level=0', [2, 0, 0]],
    ['/pause', [2, 0, 0]],
  ])(
    'after POST %s is %j over two engines, and awake again after /wake_up',
    async (path, asleep) => {
      cluster = await ClusterFixture.start({ prefill: 1, decode: 1 }, { enableDevMode: true });
      expect(await states()).toEqual([2, 0, 0]);
      expect((await post(path)).status).toBe(200);
      await until(async () => String(await states()) === String(asleep));
      await post('/wake_up');
      await until(async () => String(await states()) === '2,0,0');
    },
  );
});
