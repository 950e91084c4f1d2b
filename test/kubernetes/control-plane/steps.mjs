// What a real API server and its controllers make of our manifests.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expectThat, until } from '../../compose/shell.mjs';
import { startExternalMetrics } from './external-metrics.mjs';

const { buildAutoscaler, parseAutoscaler } = createRequire(import.meta.url)(
  '../../../dist/libs/policies/src/index.js',
);
const OVERLAYS = 'deploy/k8s/overlays';
const WAITING = 'baton_waiting_sequences';
const KV = 'baton_kv_cache_usage_engines';
/** Bounds and target of the autoscalers in deploy/k8s/components/autoscaling. */
const MOST_PREFILL = 8;
const TARGET = 4;
/** Decisions after which an autoscaler has settled on a value. */
const DECISIONS = 3;
const NO_LIMITS = {
  stabilizationWindowSeconds: 0,
  policies: [{ type: 'Pods', value: 100, periodSeconds: 1 }],
};

/** Installs the kinds of the Prometheus operator. */
export async function installKinds({ kubectl }, files) {
  for (const file of files) await kubectl(['apply', '--server-side', '-f', file]);
  await kubectl(['wait', '--for=condition=Established', '--timeout=100s', 'crd', '--all']);
}

/** The API server admits every object, and the controllers create the pods. */
export async function appliesWhole({ kubectl }, overlay) {
  const folder = join(OVERLAYS, overlay);
  await kubectl(['apply', '--validate=strict', '-k', folder]);
  const pods = await until('the pods are there', async () => {
    const { items } = JSON.parse(await kubectl(['get', 'deploy,statefulset', '-o', 'json']));
    const counts = items.map(({ spec, status }) => [spec.replicas ?? 1, status.replicas ?? 0]);
    const areAll = counts.length > 1 && counts.every(([wanted, present]) => wanted === present);
    return areAll && counts.reduce((sum, [, present]) => sum + present, 0);
  });
  return `${pods} pods`;
}

export async function deletes({ kubectl }, overlay) {
  await kubectl(['delete', '-k', join(OVERLAYS, overlay), '--wait=false']);
  await until('the overlay is gone', async () => {
    const { items } = JSON.parse(await kubectl(['get', 'deploy,statefulset,hpa', '-o', 'json']));
    return items.length === 0;
  });
}

/**
 * The autoscalers of the overlay decide on given queue lengths as ours does on the virtual clock:
 * first with the limits of the manifest, then without limits on values from a printed seed.
 */
export async function scalesAsOurs({ kubectl, tls }) {
  const metrics = await startExternalMetrics(tls);
  try {
    await kubectl(['apply', '-f', '-'], metrics.manifests);
    for (const stage of ['prefill', 'decode']) metrics.set(WAITING, stage, '0');
    metrics.set(KV, 'decode', '0');
    const isRead = (stage) => metrics.reads(WAITING, stage) > 0;
    await until('both autoscalers read it', () => isRead('prefill') && isRead('decode'));
    await followsItsLimits(kubectl, metrics);
    await highestDecides(kubectl, metrics);
    return await followsValues(kubectl, metrics);
  } finally {
    await metrics.stop();
  }
}

async function followsItsLimits(kubectl, metrics) {
  metrics.set(WAITING, 'prefill', '40');
  const seen = [1];
  await until('the pool has its maximum', async () => {
    const count = await replicas(kubectl, 'prefill');
    if (count !== seen.at(-1)) seen.push(count);
    return count === MOST_PREFILL;
  });
  const ours = virtualCounts(`hpa:waiting=${TARGET}@prefill:down-window=120s`, Array(20).fill(40));
  const steps = [1, ...ours].filter((count, place, all) => count !== all[place - 1]);
  expectThat(seen.join() === steps.join(), `Kubernetes ${seen.join()}, Baton ${steps.join()}`);
}

/** 0.8 of a cache per engine: 3.3 caches in use need 5 engines, two waiting sequences need 1. */
async function highestDecides(kubectl, metrics) {
  metrics.set(WAITING, 'decode', '2');
  metrics.set(KV, 'decode', '3300m');
  await until('decode has 5 engines', async () => (await replicas(kubectl, 'decode')) === 5);
}

async function followsValues(kubectl, metrics) {
  const behavior = { scaleUp: NO_LIMITS, scaleDown: NO_LIMITS };
  const patch = JSON.stringify({ spec: { behavior } });
  await kubectl(['patch', 'hpa', 'baton-prefill', '--type', 'merge', '-p', patch]);
  const seed = Date.now() % 100_000;
  const values = [17, 21, 23, 0, 4.4, 4.5, 8.8, ...randomValues(seed, 8)];
  const spec = `hpa:waiting=${TARGET}@prefill:down-window=0s:up-pods=100/1s:down-pods=100/1s`;
  const ours = virtualCounts(
    spec,
    values.flatMap((value) => Array(DECISIONS).fill(value)),
    MOST_PREFILL,
  );
  for (const [place, value] of values.entries()) {
    metrics.set(WAITING, 'prefill', `${Math.round(value * 1_000)}m`);
    const from = metrics.reads(WAITING, 'prefill');
    const settled = () => metrics.reads(WAITING, 'prefill') > from + DECISIONS;
    await until('the autoscaler has decided', settled);
    const count = await replicas(kubectl, 'prefill');
    const expected = ours[(place + 1) * DECISIONS - 1];
    const where = `seed ${seed}, ${value} waiting after ${values.slice(0, place).join(', ')}`;
    expectThat(count === expected, `${where}: Kubernetes ${count}, Baton ${expected}`);
  }
  return `${values.length} values, seed ${seed}`;
}

async function replicas(kubectl, stage) {
  const path = ['-o', 'jsonpath={.spec.replicas}'];
  return Number(await kubectl(['get', 'deploy', `baton-${stage}`, ...path]));
}

/** Decisions of our autoscaler, one a second, for these numbers of waiting sequences. */
function virtualCounts(text, values, start = 1) {
  const policy = buildAutoscaler(parseAutoscaler(text));
  const none = { prefill: 0, decode: 0, aggregated: 0 };
  const bounds = { min: { ...none, prefill: 1 }, max: { ...none, prefill: MOST_PREFILL } };
  let count = start;
  return values.map((waiting, second) => {
    const nowUs = second * 1_000_000;
    const counts = { ...none, prefill: count };
    const sample = {
      atUs: nowUs,
      engines: idleEngines(count),
      queued: { ...none, prefill: waiting },
    };
    count = policy.decide({ nowUs, sample, previous: undefined, counts, bounds }).counts.prefill;
    return count;
  });
}

function idleEngines(count) {
  const facts = { role: 'prefill', state: 'ready', running: 0, waiting: 0, kvUsage: 0 };
  return Array.from({ length: count }, (_, place) => ({ engineId: `P${place}`, ...facts }));
}

/** Numbers of waiting sequences from 0 to 35.9, in tenths, by a linear congruential generator. */
function randomValues(seed, count) {
  let state = seed;
  return Array.from({ length: count }, () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return (Math.floor(state / 2 ** 15) % 360) / 10;
  });
}
