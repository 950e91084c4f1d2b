import type { EngineLoad } from '@baton/contract';
import { attachInProcess, channels, type Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { onTime } from '../../../../test/support/on-time';
import { ApiFixture } from '../../test/api-fixture';
import { until } from '../../test/until';

const BODY = { prompt: 'the baton', max_tokens: 3, ignore_eos: true };

/** Two engines: `stuck` takes no job until released, `free` runs every job. */
describe('jobs of an engine that leaves', () => {
  let fixture: ApiFixture;
  let broker: Transport;
  let mayTake: boolean;
  let loads: Map<string, Partial<EngineLoad>>;
  let telling: NodeJS.Timeout;

  beforeEach(async () => {
    mayTake = false;
    loads = new Map([
      ['stuck', { index: 0 }],
      ['free', { index: 1, requests: 100 }],
    ]);
    fixture = await ApiFixture.start({
      config: { placement: 'least-requests', topology: '2A' },
      engines: [
        { engineId: 'stuck', index: 0, takes: () => mayTake, isEager: true },
        { engineId: 'free', index: 1, isEager: true },
      ],
    });
    broker = attachInProcess(fixture.hub);
    tell();
    telling = setInterval(tell, 100);
  });

  afterEach(async () => {
    clearInterval(telling);
    await fixture.stop();
    await broker.close();
  });

  function tell(): void {
    for (const [engineId, load] of loads) {
      const whole = {
        engineId,
        stage: 'aggregated',
        state: 'ready',
        requests: 0,
        waitingRequests: 0,
        waitingTokens: 0,
        usedBlocks: 0,
        numBlocks: 100,
        taken: {},
        ...load,
      };
      broker.bus.publish(channels.loads, Buffer.from(JSON.stringify(whole)));
    }
  }

  async function send(count: number): Promise<Promise<Response>[]> {
    const answers = Array.from({ length: count }, () => fixture.post('/v1/completions', BODY));
    await until(async () => (await broker.jobs.waiting('engine:stuck')) === count);
    return answers;
  }

  async function expectAnswers(answers: readonly Promise<Response>[]): Promise<void> {
    for (const answer of await Promise.all(answers)) expect(answer.status).toBe(200);
    expect(fixture.engines.map(({ runs }) => runs.length)).toEqual([0, answers.length]);
    const page = await (await fetch(`${fixture.api.url}/metrics`)).text();
    expect(page).toContain(`baton:rehomed_jobs_total ${answers.length}`);
  }

  it('move to another engine as soon as it drains', async () => {
    const answers = await send(5);
    loads.set('stuck', { index: 0, state: 'draining' });
    await expectAnswers(answers);
  });

  it('move to another engine within two seconds of its last sign of life', async () => {
    const answers: Promise<Response>[] = [];
    await onTime(5, async () => {
      loads.set('stuck', { index: 0 });
      tell();
      answers.push(...(await send(5)));
      const silentMs = performance.now();
      loads.delete('stuck');
      await expectAnswers(answers);
      const tookMs = performance.now() - silentMs;
      return () => expect(tookMs).toBeLessThan(2_000);
    });
  });

  it('move to the shared queue when there is no other engine, and back when it is present again', async () => {
    const answers = await send(3);
    loads.clear();
    await until(async () => (await broker.jobs.waiting('engine:stuck')) === 0);
    await expectAnswers(answers);
    loads.set('stuck', { index: 0 });
    mayTake = true;
    await until(async () => {
      await fixture.post('/v1/completions', BODY);
      return (fixture.engines[0]?.runs.length ?? 0) > 0;
    });
  });

  it('stay with it while it is present', async () => {
    const answers = await send(2);
    let told = 0;
    const unsubscribe = await broker.bus.subscribe(channels.loads, () => (told += 1));
    await until(() => told > 30);
    await unsubscribe();
    expect(await broker.jobs.waiting('engine:stuck')).toBe(2);
    loads.set('stuck', { index: 0, state: 'draining' });
    await expectAnswers(answers);
  });
});
