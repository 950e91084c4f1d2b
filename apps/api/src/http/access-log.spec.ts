import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';

interface Line {
  readonly req?: { readonly method: string; readonly url: string };
}

describe('the access log', () => {
  let fixture: ApiFixture;
  afterEach(() => fixture.stop());

  it('has the path of a request, without its query', async () => {
    const lines: Line[] = [];
    const write = (line: string) => lines.push(JSON.parse(line) as Line);
    fixture = await ApiFixture.start({ log: pino({ level: 'debug' }, { write }), engines: [] });
    await (await fetch(`${fixture.api.url}/v1/models?key=secret`)).text();
    await expect
      .poll(() => lines.flatMap(({ req }) => req ?? []))
      .toEqual([{ method: 'GET', url: '/v1/models' }]);
  });
});
