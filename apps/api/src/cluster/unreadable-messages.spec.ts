import { attachInProcess, channels } from '@baton/transport';
import { setImmediate as turn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';

it('an API process goes on after messages that it cannot read', async () => {
  const fixture = await ApiFixture.start({
    config: { enableDevMode: true },
    engines: [{ isEager: true }],
  });
  const { operations, timelineQuestions, followedResponses, policyFaults } = channels;
  for (const channel of [operations, timelineQuestions, followedResponses, policyFaults])
    attachInProcess(fixture.hub).bus.publish(channel, Buffer.from('{'));
  await turn();
  const answer = await fixture.post('/v1/completions', { prompt: 'x', max_tokens: 2 });
  expect(answer.status).toBe(200);
  await fixture.stop();
});
