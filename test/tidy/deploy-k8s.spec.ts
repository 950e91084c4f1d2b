import { spawnSync } from 'node:child_process';
import { basename, join } from 'node:path';
import { configKeys, envName } from '@baton/config';
import { parseTopology } from '@baton/policies';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { filesBelow, foldersIn, read, ROOT } from './repository';

type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchLabels?: Labels;
  readonly matchExpressions?: readonly { readonly key: string; readonly values: string[] }[];
}

interface Probe {
  readonly httpGet?: { readonly path: string; readonly port: string };
  readonly tcpSocket?: { readonly port: string };
}

interface SecurityContext {
  readonly runAsNonRoot?: boolean;
  readonly seccompProfile?: { readonly type: string };
  readonly allowPrivilegeEscalation?: boolean;
  readonly readOnlyRootFilesystem?: boolean;
  readonly capabilities?: { readonly drop?: readonly string[]; readonly add?: readonly string[] };
}

interface Container {
  readonly image: string;
  readonly securityContext?: SecurityContext;
  readonly resources?: { readonly limits?: Labels };
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
}

interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Labels };
  readonly data?: Labels;
  readonly spec: {
    replicas?: number;
    readonly selector?: Labels & { readonly matchLabels?: Labels };
    readonly template?: {
      readonly metadata: { readonly labels: Labels };
      readonly spec: {
        readonly containers: readonly [Container];
        readonly securityContext?: SecurityContext;
      };
    };
    readonly ports?: readonly { readonly name: string; readonly targetPort: string }[];
    readonly endpoints?: readonly { readonly port: string }[];
    readonly scaleTargetRef?: { readonly kind: string; readonly name: string };
    readonly metrics?: readonly {
      readonly external: { readonly metric: { readonly name: string } };
    }[];
    readonly podSelector?: Selector;
    readonly ingress?: readonly {
      readonly from?: readonly { readonly podSelector: Selector }[];
      readonly ports: readonly { readonly port: string }[];
    }[];
  };
}

interface Kustomization {
  readonly resources?: readonly string[];
  readonly components?: readonly string[];
  readonly replicas?: readonly { readonly name: string; readonly count: number }[];
  readonly configMapGenerator?: readonly {
    readonly name: string;
    readonly literals?: readonly string[];
    readonly files?: readonly string[];
  }[];
  readonly generatorOptions?: { readonly labels?: Labels };
}

const OVERLAYS = foldersIn('deploy/k8s/overlays');
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;

/** Rendered by kustomize where it is installed, else by a subset of it that covers these files. */
function rendered(overlay: string): Manifest[] {
  const folder = join('deploy/k8s/overlays', overlay);
  if (!hasKubectl) return composed(folder);
  const { stdout, stderr } = spawnSync('kubectl', ['kustomize', folder], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  return manifestsOf(stdout);
}

function composed(folder: string): Manifest[] {
  const own = parse(read(join(folder, 'kustomization.yaml'))) as Kustomization;
  const { resources = [], components = [], replicas = [], configMapGenerator = [] } = own;
  const manifests = [...resources, ...components].flatMap((path) =>
    path.endsWith('.yaml') ? manifestsOf(read(join(folder, path))) : composed(join(folder, path)),
  );
  for (const { name, count } of replicas) {
    const target = manifests.find((each) => each.kind === 'Deployment' && nameOf(each) === name);
    if (target === undefined) throw new Error(`no Deployment ${name} for ${folder}`);
    target.spec.replicas = count;
  }
  const { labels = {} } = own.generatorOptions ?? {};
  const generated = configMapGenerator.map(({ name, literals = [], files = [] }) => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels },
    spec: {},
    data: Object.fromEntries([
      ...literals.map((literal) => literal.split('=') as [string, string]),
      ...files.map((path) => [basename(path), read(join(folder, path))] as const),
    ]),
  }));
  return [...manifests, ...generated];
}

function manifestsOf(text: string): Manifest[] {
  return parseAllDocuments(text).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as Manifest;
  });
}

function nameOf({ metadata }: Manifest): string {
  return metadata.name;
}

function covers(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([key, value]) => labels[key] === value);
}

function isBaton({ image }: Container): boolean {
  return /^baton(:|$)/.test(image);
}

function selects({ matchLabels = {}, matchExpressions = [] }: Selector, labels: Labels): boolean {
  const isIn = ({ key, values }: { key: string; values: string[] }): boolean =>
    values.includes(labels[key] ?? '');
  return covers(matchLabels, labels) && matchExpressions.every(isIn);
}

describe('deploy/k8s', () => {
  it('refers to each of its files', () => {
    const files = filesBelow('deploy/k8s').filter((path) => !path.endsWith('kustomization.yaml'));
    const lists = filesBelow('deploy/k8s').filter((path) => path.endsWith('kustomization.yaml'));
    const listed = lists.flatMap((path) =>
      ((parse(read(path)) as Kustomization).resources ?? []).map((each) => join(path, '..', each)),
    );
    expect(files.filter((path) => !listed.includes(path))).toEqual([]);
  });

  it('has the rules of Prometheus unchanged (node deploy/prometheus/build.mjs)', () => {
    const build = [join(ROOT, 'deploy/prometheus/build.mjs'), '--print'];
    const { stdout } = spawnSync(process.execPath, build, { encoding: 'utf8' });
    expect(read('deploy/k8s/components/monitoring/rules.yaml')).toBe(stdout);
  });

  it('uses the metrics that the adapter makes of ours', () => {
    const [adapter] = manifestsOf(read('deploy/k8s/components/autoscaling/adapter-rules.yaml'));
    const { externalRules } = parse(adapter?.data?.['config.yaml'] ?? '') as {
      externalRules: { seriesQuery: string; name: { as: string } }[];
    };
    const asked = manifestsOf(read('deploy/k8s/components/autoscaling/autoscalers.yaml')).flatMap(
      ({ spec }) => (spec.metrics ?? []).map(({ external }) => external.metric.name),
    );
    expect([...new Set(asked)].sort()).toEqual(externalRules.map(({ name }) => name.as).sort());
    const known = `${read('docs/metrics.md')}${read('deploy/prometheus/rules/baton.recording.yml')}`;
    for (const { seriesQuery } of externalRules) {
      expect(known).toContain(seriesQuery.replace(/\{.*/, ''));
    }
  });
});

describe.each(OVERLAYS)('deploy/k8s/overlays/%s', (overlay) => {
  const manifests = rendered(overlay);
  const of = (kind: string): Manifest[] => manifests.filter((each) => each.kind === kind);
  const deployments = of('Deployment');
  const podLabels = deployments.map(({ spec }) => spec.template?.metadata.labels ?? {});

  it('has unique names for each kind', () => {
    const names = manifests.map((each) => `${each.kind} ${nameOf(each)}`);
    expect(new Set(names).size).toBe(names.length);
  });

  it('selects exactly one set of pods by each selector', () => {
    for (const { kind, metadata, spec } of manifests) {
      if (!['Deployment', 'Service', 'PodDisruptionBudget'].includes(kind)) continue;
      const selector = spec.selector?.matchLabels ?? spec.selector ?? {};
      const selected = podLabels.filter((labels) => covers(selector, labels));
      expect(selected, `${kind} ${metadata.name}`).toHaveLength(1);
    }
  });

  it('names existing ports and settings', () => {
    const maps = of('ConfigMap').map(nameOf);
    for (const { spec } of deployments) {
      const [container] = spec.template!.spec.containers;
      const ports = container.ports.map(({ name }) => name);
      const { startupProbe, livenessProbe, readinessProbe, envFrom = [] } = container;
      for (const probe of [startupProbe, livenessProbe, readinessProbe]) {
        const port = probe?.httpGet?.port ?? probe?.tcpSocket?.port;
        if (port !== undefined) expect(ports).toContain(port);
      }
      for (const { configMapRef } of envFrom) expect(maps).toContain(configMapRef.name);
      const services = of('Service').filter((service) =>
        covers(service.spec.selector ?? {}, spec.template!.metadata.labels),
      );
      expect(services.length).toBeGreaterThan(0);
      for (const service of services) {
        for (const { targetPort } of service.spec.ports ?? []) expect(ports).toContain(targetPort);
      }
    }
  });

  it('passes the Pod Security Standard "restricted", and limits every container', () => {
    for (const { spec } of deployments) {
      const { containers, securityContext } = spec.template!.spec;
      expect(securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        const limits = container.resources?.limits ?? {};
        expect(Object.keys(limits).sort()).toEqual(['cpu', 'memory']);
      }
    }
  });

  it('lets only its own pods reach Redis, with a password that no manifest holds', () => {
    const policies = of('NetworkPolicy');
    for (const { spec } of deployments) {
      const { labels } = spec.template!.metadata;
      const [policy, ...others] = policies.filter((each) =>
        selects(each.spec.podSelector!, labels),
      );
      expect(others).toEqual([]);
      const ports = spec.template!.spec.containers[0].ports.map(({ name }) => name);
      const [rule] = policy?.spec.ingress ?? [];
      expect(rule?.ports.map(({ port }) => port)).toEqual(ports);
      const isRedis = labels['app.kubernetes.io/component'] === 'redis';
      const from = [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'baton' } } }];
      expect(rule?.from).toEqual(isRedis ? from : undefined);
      const password = { secretKeyRef: { name: 'baton-redis', key: 'password' } };
      const { env = [] } = spec.template!.spec.containers[0];
      expect(env).toContainEqual({ name: 'REDIS_PASSWORD', valueFrom: password });
      const url = 'redis://:$(REDIS_PASSWORD)@baton-redis:6379';
      if (!isRedis) expect(env).toContainEqual({ name: 'REDIS_URL', value: url });
    }
    expect(of('Secret')).toEqual([]);
  });

  it('names its image in one place', () => {
    const list = parse(read(`deploy/k8s/overlays/${overlay}/kustomization.yaml`)) as Kustomization;
    expect(list.components).toContain('../../components/image');
    const images = deployments.map(({ spec }) => spec.template!.spec.containers[0].image);
    const own = new Set(images.filter((image) => !image.startsWith('redis:')));
    expect(own.size).toBe(1);
  });

  it('probes every container, and allows one disruption of each kind at a time', () => {
    for (const { spec } of deployments) {
      const [container] = spec.template!.spec.containers;
      expect(container.readinessProbe).toBeDefined();
      expect(container.livenessProbe).toBeDefined();
      if (!isBaton(container)) continue;
      expect(container.startupProbe).toBeDefined();
      const budgets = of('PodDisruptionBudget').filter((budget) =>
        covers(budget.spec.selector?.matchLabels ?? {}, spec.template!.metadata.labels),
      );
      expect(budgets).toHaveLength(1);
    }
  });

  it('starts each role as compose does, with existing options', () => {
    const compose = parse(read('docker-compose.yml'), { merge: true }) as {
      services: Record<string, { command?: readonly string[] }>;
    };
    const known = [...configKeys().map(envName), 'REDIS_URL', 'REDIS_PASSWORD'];
    const settings = of('ConfigMap').filter((map) => /settings|topology/.test(nameOf(map)));
    expect(known).toEqual(
      expect.arrayContaining(settings.flatMap(({ data = {} }) => Object.keys(data))),
    );
    for (const deployment of deployments) {
      const [container] = deployment.spec.template!.spec.containers;
      if (!isBaton(container)) continue;
      const role = nameOf(deployment).replace('baton-', '');
      expect(container.args).toEqual(compose.services[role]?.command ?? ['up', '--role', role]);
      const names = (container.env ?? []).map(({ name }) => name);
      expect(known).toEqual(expect.arrayContaining(names));
    }
  });

  it('has the number of engines of its topology', () => {
    const topology = of('ConfigMap').find((map) => nameOf(map) === 'baton-topology')?.data;
    const wanted = parseTopology(topology?.['BATON_TOPOLOGY'] ?? '');
    const counts = Object.fromEntries(
      deployments
        .map((each) => [nameOf(each).replace('baton-', ''), each.spec.replicas ?? 1] as const)
        .filter(([role]) => role !== 'api' && role !== 'redis'),
    );
    expect({ prefill: 0, decode: 0, aggregated: 0, ...counts }).toEqual(wanted);
  });

  it('is scraped at ports of its services, and scales its own deployments', () => {
    for (const { metadata } of [...of('ServiceMonitor'), ...of('PrometheusRule')]) {
      expect(metadata.labels).toMatchObject({ release: 'kube-prometheus-stack' });
    }
    for (const { spec, metadata } of of('ServiceMonitor')) {
      const services = of('Service').filter((service) =>
        covers(spec.selector?.matchLabels ?? {}, service.metadata.labels ?? {}),
      );
      for (const { port } of spec.endpoints ?? []) {
        const found = services.filter((each) => each.spec.ports?.some(({ name }) => name === port));
        expect(found.length, `${metadata.name} ${port}`).toBeGreaterThan(0);
      }
    }
    for (const { spec } of of('HorizontalPodAutoscaler')) {
      const { kind, name } = spec.scaleTargetRef!;
      expect(of(kind).map(nameOf)).toContain(name);
    }
  });
});
