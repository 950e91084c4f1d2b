import { type BatonConfig, defaultConfig } from '@baton/config';
import { createLogger } from '@baton/telemetry';
import { attachInProcess } from '@baton/transport';
import { afterEach, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { until } from '../../../test/until';
import { ApiServer } from '../../api-server';

const BASE = 'llama-3.1-8b';
const LONG = 'tell me a long story about a relay race and its four runners, '.repeat(4);
const SQL = { lora_name: 'sql', lora_path: 'org/sql-adapter' };

interface Card {
  readonly id: string;
  readonly root: string;
  readonly parent: string | null;
  readonly max_model_len: number | null;
}

describe('LoRA adapters', () => {
  let fixture: ApiFixture;
  let second: ApiServer | undefined;

  afterEach(async () => {
    await second?.stop();
    second = undefined;
    await fixture.stop();
  });

  async function start(config: Partial<BatonConfig>): Promise<void> {
    fixture = await ApiFixture.start({ config });
  }

  async function cards(url = fixture.api.url): Promise<Card[]> {
    const answer = await fetch(`${url}/v1/models`);
    return ((await answer.json()) as { data: Card[] }).data;
  }

  async function jobFor(model: string): Promise<{ adapter?: string; hashes: readonly number[] }> {
    const answer = fixture.post('/v1/completions', { model, prompt: LONG, max_tokens: 4 });
    const run = await fixture.engine.next();
    await run.play();
    expect(((await (await answer).json()) as { model: string }).model).toBe(model);
    const { adapter, blockHashes } = run.job;
    return { ...(adapter === undefined ? {} : { adapter }), hashes: blockHashes };
  }

  it('of the configuration are listed under the base model, and answer under their names', async () => {
    await start({
      loraModules: ['sql=org/sql-adapter', '{"name":"law","path":"/adapters/law"}'],
    });
    expect(await cards()).toMatchObject([
      { id: BASE, parent: null, max_model_len: 131_072 },
      { id: 'sql', root: 'org/sql-adapter', parent: BASE, max_model_len: null },
      { id: 'law', root: '/adapters/law', parent: BASE, max_model_len: null },
    ]);
    expect((await fetch(`${fixture.api.url}/v1/models/law`)).status).toBe(200);
    expect((await jobFor('sql')).adapter).toBe('sql');
    expect((await jobFor(BASE)).adapter).toBeUndefined();
  });

  it('share no cached prefix with the base model or each other', async () => {
    await start({ loraModules: ['a=x', 'b=y'] });
    const hashes = [];
    for (const model of [BASE, 'a', 'b', 'a']) hashes.push((await jobFor(model)).hashes[0]);
    expect(new Set(hashes).size).toBe(3);
    expect(hashes[1]).toBe(hashes[3]);
  });

  it('are loaded and unloaded at run time, in the words of vLLM', async () => {
    await start({ allowRuntimeLoraUpdating: true, dialect: 'vllm' });
    const loaded = await fixture.post('/v1/load_lora_adapter', SQL);
    expect(loaded.status).toBe(200);
    expect(await loaded.text()).toBe("Success: LoRA adapter 'sql' added successfully.");
    expect((await jobFor('sql')).adapter).toBe('sql');
    const unloaded = await fixture.post('/v1/unload_lora_adapter', { lora_name: 'sql' });
    expect(await unloaded.text()).toBe("Success: LoRA adapter 'sql' removed successfully.");
    const gone = await fixture.post('/v1/completions', { model: 'sql', prompt: 'x' });
    expect(gone.status).toBe(404);
    expect(await cards()).toHaveLength(1);
  });

  it.each([
    ['load', SQL, 400, 'InvalidUserInput', "The lora adapter 'sql' has already been loaded."],
    ['load', { lora_name: 'x' }, 400, 'Bad Request', "parameter: 'lora_path'"],
    ['load', { ...SQL, lora_name: 7 }, 400, 'Bad Request', "'lora_name': expected a string"],
    ['load', { ...SQL, lora_path: '' }, 400, 'BadRequestError', 'lora_path'],
    ['load', { ...SQL, lora_name: 'x'.repeat(300) }, 400, 'BadRequestError', 'is not valid'],
    ['load', { ...SQL, load_inplace: 'yes' }, 400, 'Bad Request', "'load_inplace': expected"],
    ['unload', {}, 400, 'Bad Request', "parameter: 'lora_name'"],
    ['unload', { lora_name: 'y' }, 404, 'NotFoundError', "The lora adapter 'y' cannot be found."],
  ])('refuse to %s %j with %i %s', async (verb, body, status, type, message) => {
    await start({ allowRuntimeLoraUpdating: true, dialect: 'vllm' });
    await fixture.post('/v1/load_lora_adapter', SQL);
    const answer = await fixture.post(`/v1/${verb}_lora_adapter`, body);
    const { error } = (await answer.json()) as { error: Record<string, unknown> };
    expect({ status: answer.status, ...error }).toMatchObject({ status, type, code: status });
    expect(error['message']).toContain(message);
    expect(await cards()).toHaveLength(2);
  });

  it('are replaced in place when the request says so', async () => {
    await start({ allowRuntimeLoraUpdating: true });
    await fixture.post('/v1/load_lora_adapter', SQL);
    const again = { ...SQL, lora_path: 'org/newer', load_inplace: true };
    expect((await fixture.post('/v1/load_lora_adapter', again)).status).toBe(200);
    expect((await cards()).map(({ root }) => root)).toEqual([BASE, 'org/newer']);
  });

  it('cannot be changed where changes are not allowed', async () => {
    await start({ loraModules: ['sql=x'] });
    expect((await fixture.post('/v1/load_lora_adapter', SQL)).status).toBe(404);
  });

  it('are the same in every API process, including one that starts later', async () => {
    const config = { allowRuntimeLoraUpdating: true };
    await start(config);
    await fixture.post('/v1/load_lora_adapter', SQL);
    second = await ApiServer.start({
      config: defaultConfig({ topology: '1A', port: 0, logLevel: 'silent', ...config }),
      transport: attachInProcess(fixture.hub),
      log: createLogger({ name: 'api', level: 'silent' }),
    });
    const { url } = second;
    expect(await cards(url)).toHaveLength(2);
    await fetch(`${url}/v1/unload_lora_adapter`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ lora_name: 'sql' }),
    });
    await until(async () => (await cards()).length === 1);
  });

  it('are all kept when loaded at the same moment', async () => {
    await start({ allowRuntimeLoraUpdating: true });
    const names = Array.from({ length: 20 }, (_, i) => `adapter-${i}`);
    await Promise.all(
      names.map((name) =>
        fixture.post('/v1/load_lora_adapter', { lora_name: name, lora_path: 'x' }),
      ),
    );
    expect(
      (await cards())
        .slice(1)
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...names].sort());
  });
});
