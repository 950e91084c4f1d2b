// `node deploy/prometheus/build.mjs` writes the rules as an object of the Prometheus operator; with
// `--print` it prints it.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';
import { parse, stringify } from 'yaml';

const RULES = new URL('rules/', import.meta.url);
const OBJECT = new URL('../k8s/components/monitoring/rules.yaml', import.meta.url);

const groups = readdirSync(RULES)
  .sort()
  .flatMap((name) => parse(readFileSync(new URL(name, RULES), 'utf8')).groups);
const rule = {
  apiVersion: 'monitoring.coreos.com/v1',
  kind: 'PrometheusRule',
  metadata: {
    name: 'baton',
    labels: { 'app.kubernetes.io/name': 'baton', release: 'kube-prometheus-stack' },
  },
  spec: { groups },
};
const note =
  '# Written by `node deploy/prometheus/build.mjs` from deploy/prometheus/rules; do not edit.\n';
const text = await format(`${note}${stringify(rule, { lineWidth: 0 })}`, {
  parser: 'yaml',
  printWidth: 100,
  singleQuote: true,
});

if (process.argv.includes('--print')) process.stdout.write(text);
else writeFileSync(fileURLToPath(OBJECT), text);
