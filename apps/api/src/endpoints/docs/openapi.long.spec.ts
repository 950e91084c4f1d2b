import { defaultConfig } from '@baton/config';
import Ajv2020 from 'ajv/dist/2020';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiFixture } from '../../../test/api-fixture';
import { type KnownRoute, KnownRoutes } from '../../http/known-routes';
import { answerSchemas } from '../../http/answer-schemas';
import { type DescribedOperation, type OpenApiDocument, openApiDocument } from './openapi-document';

const METHODS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];
/** Engines start only where a supervisor runs. */
const FOR_SUPERVISORS: ReadonlySet<string> = new Set(['/admin/engines']);
type Shown = { readonly description: string; readonly examples: readonly unknown[] };
type Media = Readonly<Record<string, { readonly schema?: { readonly $ref: string } }>>;

const everything = {
  enableAdmin: true,
  enableDevMode: true,
  allowRuntimeLoraUpdating: true,
} as const;

function schemaOf({ responses }: DescribedOperation): string | undefined {
  const success = responses['200'] ?? responses['202'];
  const content = success?.['content'] as Media | undefined;
  return content?.['application/json']?.schema?.$ref;
}

function schemaOfFailure({ components }: OpenApiDocument, answer: object): string {
  const name =
    String((answer as { $ref: string }).$ref)
      .split('/')
      .at(-1) ?? '';
  const { content } = (components['responses'] as Record<string, { content: Media }>)[name]!;
  return content['application/json']?.schema?.$ref ?? '';
}

/** Orders that wait for engines to answer, which the engines of a fixture do not. */
const ORDERS: ReadonlySet<string> = new Set(['/abort_requests', '/sleep']);
/** Requests that most operations refuse, each in a way of its own. */
const WRONG: readonly RequestInit[] = [
  {},
  { body: '{', headers: { 'content-type': 'application/json' } },
  { body: '{}', headers: { 'content-type': 'application/json' } },
  { body: '[1]', headers: { 'content-type': 'text/plain' } },
  { body: '{}', headers: { 'content-type': 'application/json', 'content-encoding': 'lzma' } },
  { body: '{"model":"no-such-model"}', headers: { 'content-type': 'application/json' } },
];

describe('the description of the API', () => {
  let fixture: ApiFixture;
  let document: OpenApiDocument;
  let routes: readonly KnownRoute[];
  beforeAll(async () => {
    fixture = await ApiFixture.start({ config: { ...everything, apiKey: ['sk-one'] } });
    document = (await (await fetch(`${fixture.api.url}/openapi.json`)).json()) as OpenApiDocument;
    routes = fixture.api.app.get(KnownRoutes).list();
  });
  afterAll(() => fixture.stop());

  const operations = ({ paths } = document) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );

  it('describes every route of the server beside its handler', () => {
    const silent = routes.filter(({ operation }) => operation === undefined);
    expect(silent.map(({ method, pattern }) => `${method} ${pattern}`)).toEqual([]);
    const upgrading = routes.filter(({ operation }) => operation?.upgrades === true);
    expect(upgrading.map(({ pattern }) => pattern)).toEqual(['/v1/responses']);
    expect(operations()).toHaveLength(routes.length - upgrading.length);
  });

  it('describes only what the server serves', async () => {
    const plain = await ApiFixture.start();
    const { paths } = (await (
      await fetch(`${plain.api.url}/openapi.json`)
    ).json()) as OpenApiDocument;
    await plain.stop();
    expect(paths).toHaveProperty(['/v1/chat/completions', 'post']);
    for (const path of ['/admin/engines', '/sleep', '/v1/load_lora_adapter']) {
      expect(paths).not.toHaveProperty([path]);
      expect(document.paths).toHaveProperty([path]);
    }
  });

  // The structure that section 4.8 of the specification 3.1.0 requires, for the parts that the
  // document uses.
  it('has what OpenAPI 3.1 requires of a document and of an operation', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toMatchObject({
      title: expect.any(String) as string,
      version: expect.any(String) as string,
    });
    const tags = document.tags.map(({ name }) => name);
    expect(new Set(tags).size).toBe(tags.length);
    const ids = new Set(operations().map(({ operation }) => operation.operationId));
    expect(ids.size).toBe(operations().length);
    for (const { path, method, operation } of operations()) {
      expect(path).toMatch(/^\/[\w./{}]*$/);
      expect(METHODS).toContain(method);
      expect(tags).toEqual(expect.arrayContaining([...operation.tags]));
      const parameters = operation.parameters ?? [];
      const places = parameters.map((one) => `${one.in} ${one.name}`);
      expect(new Set(places).size).toBe(places.length);
      const inPath = parameters.filter((one) => one.in === 'path');
      expect(inPath.map(({ name }) => `{${name}}`).sort()).toEqual(
        [...(path.match(/\{\w+\}/g) ?? [])].sort(),
      );
      for (const one of inPath) expect(one.required).toBe(true);
      for (const [status, answer] of Object.entries(operation.responses)) {
        expect(status).toMatch(/^(default|[1-5]\d\d)$/);
        expect('$ref' in answer || typeof answer['description'] === 'string').toBe(true);
      }
    }
  });

  it('has no dangling reference', () => {
    const json = JSON.stringify(document);
    const references = [...json.matchAll(/"\$ref":"#\/([^"]+)"/g)].map(([, path = '']) => path);
    expect(references.length).toBeGreaterThan(0);
    for (const reference of references) expect(document).toHaveProperty(reference.split('/'));
    expect(json.match(/"bearer"/g)?.length).toBeGreaterThan(10);
    expect(document.components).toHaveProperty('securitySchemes.bearer');
  });

  it('has schemas of draft 2020-12', () => {
    const ajv = new Ajv2020({ strict: false });
    for (const [name, schema] of Object.entries(document.components.schemas)) {
      expect(ajv.validateSchema(schema), name).toBe(true);
    }
  });

  it.each(['openai', 'vllm'] as const)(
    'gives example bodies that a server of the %s dialect accepts, and schemas of its answers',
    async (dialect) => {
      const ajv = new Ajv2020({ strict: false });
      ajv.addSchema(document, 'api');
      const config = { ...everything, dialect };
      const server = await ApiFixture.start({ config, engines: [{ isEager: true }] });
      const shown = operations().flatMap(({ path, method, operation }) => {
        const { example } = operation.requestBody?.content['application/json'] ?? {};
        const isPlain = !path.includes('{') && method === 'post' && !FOR_SUPERVISORS.has(path);
        return isPlain && example !== undefined
          ? [{ path, example, name: schemaOf(operation) }]
          : [];
      });
      expect(shown.length).toBeGreaterThan(20);
      for (const { path, example, name } of shown) {
        const answer = await server.post(path, example);
        const text = await answer.text();
        const body: unknown = text.startsWith('Success') ? text : JSON.parse(text);
        expect(answer.status, `${path}: ${JSON.stringify(body)}`).toBe(200);
        const isFit = name === undefined || ajv.validate(`api${name}`, body);
        expect(isFit, `${path}: ${ajv.errorsText()}`).toBe(true);
      }
      await server.stop();
    },
  );

  it('describes every operation, and every answer schema with an example that fits', () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(document, 'api');
    for (const { path, operation } of operations()) {
      expect(operation.description, path).toMatch(/^[A-Z].*\.$/);
      expect(operation.description, path).toContain(operation.summary);
      const body = operation.requestBody?.content['application/json'];
      if (body !== undefined) expect(body.example, path).toBeDefined();
    }
    const names = Object.keys(answerSchemas());
    expect(names.length).toBeGreaterThan(30);
    for (const name of names) {
      const { description, examples } = document.components.schemas[name] as Shown;
      expect(description, name).toMatch(/\.$/);
      const isFit = ajv.validate(`api#/components/schemas/${name}`, examples[0]);
      expect(isFit, `${name}: ${ajv.errorsText()}`).toBe(true);
    }
  });

  it('gives the answers of plain operations their schemas', async () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(document, 'api');
    const server = await ApiFixture.start({ config: everything, engines: [{ isEager: true }] });
    let checked = 0;
    for (const { path, method, operation } of operations()) {
      const name = schemaOf(operation);
      if (method !== 'get' || path.includes('{') || name === undefined) continue;
      const answer: unknown = await (await fetch(`${server.api.url}${path}`)).json();
      expect(ajv.validate(`api${name}`, answer), `${path}: ${ajv.errorsText()}`).toBe(true);
      checked += 1;
    }
    await server.stop();
    expect(checked).toBeGreaterThan(10);
  });

  it('requires a body wherever the server reads one', () => {
    const bodies = operations().flatMap(({ operation }) => operation.requestBody ?? []);
    expect(bodies.length).toBeGreaterThan(15);
    for (const { required } of bodies) expect(required).toBe(true);
  });

  it('has no operation that the server answers as a wrong method', async () => {
    for (const { path, method } of operations()) {
      if (method !== 'get' || path.includes('{') || path.includes('stream')) continue;
      const leave = new AbortController();
      const headers = { authorization: 'Bearer sk-one' };
      const answer = await fetch(`${fixture.api.url}${path}`, { headers, signal: leave.signal });
      expect(answer.status, path).not.toBe(405);
      leave.abort();
    }
  });

  it("has Anthropic's errors below /v1/messages, unknown paths among them", async () => {
    const ajv = new Ajv2020({ strict: false });
    ajv.addSchema(document, 'api');
    const headers = { authorization: 'Bearer sk-one' };
    for (const path of ['/v1/messages', '/v1/messages/batches', '/v1/messages/a/b']) {
      const answer = await fixture.post(path, { messages: 5 }, { headers });
      expect(answer.status).toBeGreaterThanOrEqual(400);
      expect(ajv.validate('api#/components/schemas/MessageError', await answer.json())).toBe(true);
    }
  });

  it('gives errors the shape of the dialect', async () => {
    const ajv = new Ajv2020();
    for (const dialect of ['openai', 'vllm'] as const) {
      const server = await ApiFixture.start({ config: { dialect } });
      const answer = await server.post('/v1/completions', { prompt: 5 });
      const error: unknown = await answer.json();
      await server.stop();
      const { components } = openApiDocument([], defaultConfig({ dialect }));
      expect(ajv.validate(components.schemas['Error'] ?? false, error)).toBe(true);
    }
  });

  it.each(['openai', 'vllm'] as const)(
    'documents the answer without a key at every guarded operation (%s)',
    async (dialect) => {
      const ajv = new Ajv2020({ strict: false });
      const config = { ...everything, dialect, apiKey: ['sk-one'], adminApiKey: 'sk-admin' };
      const server = await ApiFixture.start({ config });
      const shown = (await (
        await fetch(`${server.api.url}/openapi.json`)
      ).json()) as typeof document;
      ajv.addSchema(shown, 'api');
      // It needs the admin key only at the port of the cluster, and none at an engine's.
      const mixed = new Set(['/server_info']);
      const guarded: string[] = [];
      for (const { path, method, operation } of operations(shown)) {
        if (mixed.has(path)) continue;
        const url = `${server.api.url}${path.replace(/\{\w+\}/g, 'x')}`;
        const answer = await fetch(url, { method: method.toUpperCase() });
        const documented = operation.responses['401'];
        expect(documented !== undefined, `${method} ${path}`).toBe(answer.status === 401);
        if (documented === undefined) {
          await answer.body?.cancel();
          continue;
        }
        guarded.push(path);
        const body = await answer.text();
        const isFit = ajv.validate(`api${schemaOfFailure(shown, documented)}`, JSON.parse(body));
        expect(isFit, `${method} ${path}: ${body}`).toBe(true);
      }
      await server.stop();
      expect(guarded).toContain('/generate');
    },
  );

  it.each(['openai', 'vllm'] as const)(
    'documents every status of a refusal, with the schema of its error (%s)',
    async (dialect) => {
      const ajv = new Ajv2020({ strict: false });
      const config = { ...everything, dialect };
      const server = await ApiFixture.start({ config, engines: [{ isEager: true }] });
      const shown = (await (
        await fetch(`${server.api.url}/openapi.json`)
      ).json()) as typeof document;
      ajv.addSchema(shown, 'api');
      const seen = new Set<number>();
      const undocumented: string[] = [];
      for (const { path, method, operation } of operations(shown)) {
        for (const [at, wrong] of ORDERS.has(path) ? [] : WRONG.entries()) {
          if (method === 'get' && wrong.body !== undefined) continue;
          const url = `${server.api.url}${path.replace(/\{\w+\}/g, 'x')}`;
          const init = { ...wrong, method: method.toUpperCase(), redirect: 'manual' as const };
          const answer = await fetch(url, init);
          const where = `${method} ${path}, request ${at}: ${answer.status}`;
          const documented = operation.responses[answer.status];
          if (documented === undefined) undocumented.push(where);
          seen.add(answer.status);
          // The operation reads no body, or needs what is not there.
          if (answer.status < 400 || answer.status >= 500 || documented === undefined) {
            await answer.body?.cancel();
            break;
          }
          const body: unknown = await answer.json();
          const isFit = ajv.validate(`api${schemaOfFailure(shown, documented)}`, body);
          expect(isFit, `${where}: ${JSON.stringify(body)}`).toBe(true);
        }
      }
      await server.stop();
      expect(undocumented).toEqual([]);
      expect([...seen]).toEqual(expect.arrayContaining([200, 308, 400, 404, 415, 501]));
    },
  );

  it('is readable as a page without external resources', async () => {
    const answer = await fetch(`${fixture.api.url}/docs`);
    expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const page = await answer.text();
    for (const { path, operation } of operations()) {
      expect(page).toContain(`<code>${path}</code>`);
      expect(page).toContain(`id="${operation.operationId}"`);
    }
    expect(page).toContain(
      '<td><code>messages</code></td><td>list of object</td><td>required</td>',
    );
    expect(page).toContain('<code>temperature</code></td><td>number</td><td></td><td>from 0 to 2<');
    expect(page).not.toMatch(/<script|src=|https?:|url\(/);
  });
});
