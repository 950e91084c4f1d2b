// npm run test:kubernetes: every overlay, rendered by kustomize, fits the schema of Kubernetes, and
// a real API server with its controllers accepts it and scales it. Ends with `N passed, N failed`.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import { demand, execute, expectThat } from '../compose/shell.mjs';
import { startControlPlane } from './control-plane/start.mjs';
import { appliesWhole, deletes, installKinds, scalesAsOurs } from './control-plane/steps.mjs';
import { checkerOf } from './schema.mjs';

/** Go modules with schemas, and the checksums of their content. */
const KUBERNETES = {
  module: 'k8s.io/kubernetes@v1.32.4',
  sum: 'h1:fRZeSjwVE+dMMSS7Qi6LxOOKpVL+1CPAT/b1Cuo4kns=',
};
const OPERATOR = {
  module: 'github.com/prometheus-operator/prometheus-operator@v0.76.0',
  sum: 'h1:EjGJiQVF3BUy/iygeRlN6iMBIAySMGZobEm7+7A95pI=',
};
const OPERATOR_KINDS = ['prometheusrules', 'servicemonitors'];
const KUSTOMIZE = 'sigs.k8s.io/kustomize/kustomize/v5@v5.5.0';
const CACHE = join(homedir(), '.cache', 'baton', 'kubernetes');
const OVERLAYS = 'deploy/k8s/overlays';
const AUTOSCALED = 'autoscaled';

const count = { passed: 0, failed: 0 };

await main();
process.stdout.write(`${count.passed} passed, ${count.failed} failed\n`);
process.exitCode = count.failed === 0 ? 0 : 1;

async function main() {
  if ((await step('Go is installed', demandGo)) === undefined) return;
  const tools = await step('kustomize and the schema are there', async () => ({
    render: await renderer(),
    complaintsOf: await checker(),
  }));
  if (tools === undefined) return;
  await step('the check finds faults', () => findsErrors(tools.complaintsOf));
  for (const overlay of readdirSync(OVERLAYS)) {
    await step(`${overlay} fits the schema`, () => fits(join(OVERLAYS, overlay), tools));
  }
  await onAControlPlane();
}

/** @throws Error that says where to get Go */
async function demandGo() {
  const { code, stdout } = await execute(['go', 'version']);
  expectThat(code === 0, 'no `go` on the PATH: install Go from https://go.dev/dl or your packages');
  return stdout.trim();
}

async function onAControlPlane() {
  const plane = await step('a control plane starts', startControlPlane);
  if (plane === undefined) return;
  try {
    await step('the kinds of the Prometheus operator are installed', () => withOperator(plane));
    await step('pods must be restricted', () => restricts(plane));
    for (const overlay of readdirSync(OVERLAYS)) {
      await step(`the API server accepts ${overlay}`, () => appliesWhole(plane, overlay));
      if (overlay === AUTOSCALED) {
        await step('its autoscalers decide as ours', () => scalesAsOurs(plane));
      }
      await step(`${overlay} is deleted`, () => deletes(plane, overlay));
    }
  } finally {
    await plane.stop();
  }
}

/** From now on the API server admits only pods of the Pod Security Standard "restricted". */
async function restricts({ kubectl }) {
  await kubectl(['label', 'namespace', 'default', 'pod-security.kubernetes.io/enforce=restricted']);
}

async function withOperator(plane) {
  const operator = await folderOf(OPERATOR);
  await installKinds(
    plane,
    OPERATOR_KINDS.map((kind) => kindFile(operator, kind)),
  );
}

function kindFile(operator, kind) {
  return join(operator, `example/prometheus-operator-crd/monitoring.coreos.com_${kind}.yaml`);
}

/** kubectl includes kustomize. Without kubectl it is built from its Go module. */
async function renderer() {
  if ((await execute(['kubectl', 'version', '--client'])).code === 0)
    return ['kubectl', 'kustomize'];
  const env = { ...process.env, GOBIN: CACHE };
  process.stdout.write(`      kubectl is not installed: building ${KUSTOMIZE}\n`);
  await demand(['go', 'install', KUSTOMIZE], { env, deadlineMs: 1_800_000 });
  return [join(CACHE, 'kustomize'), 'build'];
}

/**
 * The document that API servers of this version serve, and the schemas that the Prometheus operator
 * adds.
 */
async function checker() {
  const [kubernetes, operator] = [await folderOf(KUBERNETES), await folderOf(OPERATOR)];
  const openApi = JSON.parse(
    readFileSync(join(kubernetes, 'api/openapi-spec/swagger.json'), 'utf8'),
  );
  const added = OPERATOR_KINDS.map((kind) => {
    return parse(readFileSync(kindFile(operator, kind), 'utf8'));
  });
  return checkerOf(openApi, added);
}

async function folderOf({ module, sum }) {
  mkdirSync(CACHE, { recursive: true });
  // The checksum is in this file, so that no other machine is needed for it.
  const env = { ...process.env, GONOSUMDB: '*', GOFLAGS: '-mod=mod' };
  const words = ['go', 'mod', 'download', '-json', module];
  const { Dir, Sum } = JSON.parse(await demand(words, { cwd: CACHE, env }));
  expectThat(Sum === sum, `${module} has the checksum ${Sum} instead of ${sum}`);
  return Dir;
}

async function fits(overlay, { render, complaintsOf }) {
  const text = await demand([...render, overlay]);
  const manifests = parseAllDocuments(text).map((document) => document.toJS());
  expectThat(manifests.length > 5, `only ${manifests.length} manifests`);
  const found = manifests.flatMap((manifest) => {
    const { kind, metadata } = manifest;
    return complaintsOf(manifest).map((complaint) => `${kind} ${metadata.name}: ${complaint}`);
  });
  expectThat(found.length === 0, found.join('\n'));
  return `${manifests.length} manifests`;
}

function findsErrors(complaintsOf) {
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' } };
  expectThat(complaintsOf(service).length === 0, 'a good Service is refused');
  expectThat(
    complaintsOf({ ...service, spec: { prts: [] } }).length > 0,
    'a misspelt field passes',
  );
  const ports = [{ port: 'http' }];
  expectThat(complaintsOf({ ...service, spec: { ports } }).length > 0, 'a wrong type passes');
}

async function step(name, work) {
  try {
    const found = (await work()) ?? true;
    count.passed += 1;
    process.stdout.write(`ok    ${name}${typeof found === 'string' ? ` (${found})` : ''}\n`);
    return found;
  } catch (error) {
    count.failed += 1;
    process.stdout.write(`FAILED  ${name}\n${error.message}\n`);
    return undefined;
  }
}
