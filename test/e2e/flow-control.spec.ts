import { afterEach, describe, expect, it } from 'vitest';
import { TestCluster } from '../support/cluster';
import { waitUntil } from '../support/wait';

const CLASSES = '{"interactive":{"ttft":60000,"priority":1},"batch":{"priority":2}}';
const FLAGS = [
  ...['--step-time=constant', '--time-to-first-token=5', '--inter-token-latency=5'],
  ...[`--slo-classes=${CLASSES}`, '--flow-control=priority', '--flow-control-concurrency=2'],
  '--enable-dev-mode',
];

describe('a cluster of processes with flow control', () => {
  let cluster: TestCluster | undefined;

  afterEach(async () => {
    await cluster?.stop();
    cluster = undefined;
  });

  async function series(target: TestCluster, name: string): Promise<ReadonlyMap<string, number>> {
    const page = await (await fetch(`${target.baseUrl}/metrics`)).text();
    const lines = page.split('\n').filter((line) => line.startsWith(name));
    return new Map(
      lines.map((line) => {
        const at = line.lastIndexOf(' ');
        return [line.slice(0, at), Number(line.slice(at + 1))];
      }),
    );
  }

  function send(target: TestCluster, sloClass: string): Promise<Response> {
    return fetch(`${target.baseUrl}/v1/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-slo-class': sloClass },
      body: JSON.stringify({ prompt: 'one two three', max_tokens: 20, ignore_eos: true }),
    });
  }

  async function order(target: TestCluster, what: string): Promise<void> {
    expect((await fetch(`${target.baseUrl}/${what}`, { method: 'POST' })).status).toBe(200);
  }

  it('serves the higher class first under overload, and in the end every request', async () => {
    cluster = await TestCluster.start({ topology: '1P1D', flags: FLAGS });
    const target = cluster;
    // Paused engines keep two requests, and the others wait for as long as the test looks at them.
    await order(target, 'pause?mode=keep');
    const ended: string[] = [];
    const answers = Array.from({ length: 60 }, async (_, i) => {
      const sloClass = i % 2 === 0 ? 'batch' : 'interactive';
      const answer = await send(target, sloClass);
      const body = await answer.text();
      ended.push(sloClass);
      return answer.ok ? 'whole' : body;
    });
    await waitUntil(
      async () => {
        const waiting = await series(target, 'baton:flow_waiting_requests{');
        return [...waiting.values()].reduce((sum, count) => sum + count, 0) === 58;
      },
      { what: 'all but two requests wait' },
    );
    expect([...(await series(target, 'baton:flow_under_way_requests')).values()]).toEqual([2]);
    await order(target, 'resume');
    expect(await Promise.all(answers)).toEqual(answers.map(() => 'whole'));
    const early = ended.slice(0, 30).filter((sloClass) => sloClass === 'interactive');
    expect(early.length).toBeGreaterThan(22);
    const passed = await series(target, 'baton:flow_requests_total');
    expect([...passed.values()]).toEqual([30, 30]);
    const outcomes = await series(target, 'baton:slo_requests_total');
    for (const [name, count] of outcomes) {
      expect({ name, count }).toEqual({ name, count: name.includes('"good"') ? 30 : 0 });
    }
    expect((await send(target, 'gold')).status).toBe(400);
    await target.untilAtRest();
  });
});
