import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../test/api-fixture';

interface Line {
  readonly reqId?: string;
  readonly req?: { readonly method: string; readonly url: string };
}

describe('the access log', () => {
  let fixture: ApiFixture;
  afterEach(() => fixture.stop());

  it('has the id of a request, and its path without the query', async () => {
    const lines: Line[] = [];
    const write = (line: string) => lines.push(JSON.parse(line) as Line);
    fixture = await ApiFixture.start({ log: pino({ level: 'debug' }, { write }), engines: [] });
    const headers = { 'x-request-id': 'abc' };
    await (await fetch(`${fixture.api.url}/v1/models?key=secret`, { headers })).text();
    await expect
      .poll(() => lines.filter(({ req }) => req !== undefined))
      .toEqual([
        expect.objectContaining({ reqId: 'abc', req: { method: 'GET', url: '/v1/models' } }),
      ]);
  });
});
