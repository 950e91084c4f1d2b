import { defaultConfig } from '@baton/config';
import type { EngineMessage, EnginePresence, EngineReport } from '@baton/contract';
import { attachInProcess, channels, InProcessHub, type Transport } from '@baton/transport';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { askEngines } from './engine-reports';

const ANNOUNCED = { engineId: 'e', stage: 'decode', counters: { steps: 1 } };
const presence = ANNOUNCED as unknown as EnginePresence;

describe('the numbers of engines', () => {
  let transport: Transport;

  beforeEach(() => {
    transport = attachInProcess(new InProcessHub());
  });
  afterEach(() => transport.close());

  const ask = (): Promise<EngineReport[]> =>
    askEngines([presence], { config: defaultConfig(), transport, log: { warn: () => undefined } });

  /** As one that answers in a later turn of the event loop. */
  async function engineAnswers(): Promise<void> {
    const report = { presence: { ...presence, counters: { steps: 2 } }, page: 'its own' };
    await transport.bus.subscribe(channels.engine('e'), (payload) => {
      const message = JSON.parse(payload.toString()) as EngineMessage;
      if (message.kind !== 'tell-metrics') return;
      const answer = Buffer.from(JSON.stringify(report));
      setImmediate(() => transport.bus.publish(message.replyTo, answer));
    });
  }

  it('are those announced where an engine does not answer', async () => {
    expect(await ask()).toEqual([{ presence, page: '' }]);
  });

  it('are those of now, also after a pause of this process in which the answers came', async () => {
    await engineAnswers();
    const asked = ask();
    await new Promise((resolve) => process.nextTick(resolve));
    for (const endMs = performance.now() + 1_100; performance.now() < endMs;);
    expect(await asked).toMatchObject([{ presence: { counters: { steps: 2 } }, page: 'its own' }]);
  });
});
