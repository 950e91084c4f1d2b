// The external metrics API of Kubernetes with values that a test sets, in place of the Prometheus
// adapter.
import { createServer } from 'node:https';

const GROUP = 'external.metrics.k8s.io';
const VERSION = 'v1beta1';
const ROOT = `/apis/${GROUP}/${VERSION}`;

/**
 * @param tls `cert` and `key` of the server
 * @returns `set(metric, stage, value)`, `reads(metric, stage)` (how often the value was read),
 * `manifests` that register the server, and `stop()`
 */
export async function startExternalMetrics(tls) {
  const values = new Map();
  const reads = new Map();
  const server = createServer(tls, (request, response) => {
    const [status, answer] = answerTo(new URL(request.url, 'https://localhost'), { values, reads });
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer));
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    set: (metric, stage, value) => values.set(`${metric}/${stage}`, value),
    reads: (metric, stage) => reads.get(`${metric}/${stage}`) ?? 0,
    manifests: JSON.stringify(registration(server.address().port)),
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerTo({ pathname, searchParams }, { values, reads }) {
  if (pathname === ROOT) return [200, resources()];
  const [, metric] = /\/namespaces\/[^/]+\/([^/]+)$/.exec(pathname) ?? [];
  const [, stage] = /stage=(\w+)/.exec(searchParams.get('labelSelector') ?? '') ?? [];
  const name = `${metric}/${stage}`;
  reads.set(name, (reads.get(name) ?? 0) + 1);
  const value = values.get(name);
  const items = value === undefined ? [] : [item(metric, stage, value)];
  const list = { kind: 'ExternalMetricValueList', apiVersion: `${GROUP}/${VERSION}` };
  return [200, { ...list, metadata: {}, items }];
}

function item(metricName, stage, value) {
  const timestamp = new Date().toISOString();
  return { metricName, metricLabels: { stage }, timestamp, value };
}

function resources() {
  const kind = 'APIResourceList';
  return { kind, apiVersion: 'v1', groupVersion: `${GROUP}/${VERSION}`, resources: [] };
}

/** The API server reaches this process by the name of the host, not by the address of a pod. */
function registration(port) {
  const service = { name: 'external-metrics', namespace: 'default', port };
  return {
    apiVersion: 'v1',
    kind: 'List',
    items: [
      {
        apiVersion: 'v1',
        kind: 'Service',
        metadata: { name: service.name, namespace: service.namespace },
        spec: { type: 'ExternalName', externalName: 'localhost', ports: [{ port }] },
      },
      {
        apiVersion: 'apiregistration.k8s.io/v1',
        kind: 'APIService',
        metadata: { name: `${VERSION}.${GROUP}` },
        spec: {
          group: GROUP,
          version: VERSION,
          service,
          insecureSkipTLSVerify: true,
          groupPriorityMinimum: 100,
          versionPriority: 100,
        },
      },
    ],
  };
}
