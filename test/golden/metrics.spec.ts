import { describe, expect, it } from 'vitest';
import { ClusterFixture } from '../../apps/api/test/cluster-fixture';
import { type Family, parseExposition } from '../../apps/api/test/exposition';
import { expectGolden } from './golden-file';

/** One line per family: name, type, labels with the bounds of its buckets, and help. */
function shapeOf({ name, type, help, samples }: Family): string {
  const labels = samples.map((sample) => Object.keys(sample.labels));
  const names = [...new Set(labels.flat())].filter((label) => label !== 'le').sort();
  const bounds = [...new Set(samples.flatMap((sample) => sample.labels['le'] ?? []))];
  const buckets = bounds.length === 0 ? '' : ` le=${bounds.join(' ')}`;
  return `${name} ${type} {${names.join()}}${buckets}\n  ${help}\n`;
}

describe('the page of metrics', () => {
  it('has the recorded families with their types, labels, buckets and texts', async () => {
    const cluster = await ClusterFixture.start(
      { prefill: 1, decode: 1 },
      { sloClasses: { fast: { ttft: 500 } }, apiKey: ['k'] },
    );
    const headers = { authorization: 'Bearer k' };
    const answer = await cluster.post({ prompt: 'x', max_tokens: 2 }, headers);
    expect(answer.status).toBe(200);
    await answer.text();
    const page = await (await fetch(`${cluster.api.url}/metrics`)).text();
    await cluster.stop();
    // Those of prom-client differ with the version of Node.
    const families = [...parseExposition(page).values()].filter(
      ({ name }) => !name.startsWith('nodejs_'),
    );
    const lines = families.map(shapeOf).sort();
    expectGolden('metrics.txt', lines.join(''));
  });
});
