// Kubernetes' own OpenAPI document as a strict JSON Schema: an unknown field is an error, as for an
// API server that validates.
import Ajv from 'ajv';

const INT_OR_STRING = 'io.k8s.apimachinery.pkg.util.intstr.IntOrString';
const QUANTITY = 'io.k8s.apimachinery.pkg.api.resource.Quantity';
const KINDS = 'x-kubernetes-group-version-kind';

/** @returns a function that returns the faults of a manifest, none when it fits */
export function checkerOf({ definitions }, customResources) {
  const ajv = new Ajv({ strict: false, validateFormats: false, allErrors: true });
  const names = new Map();
  for (const [name, { [KINDS]: kinds = [] }] of Object.entries(definitions)) {
    for (const { group, version, kind } of kinds) names.set([group, version, kind].join('/'), name);
  }
  const all = Object.entries(definitions).map(([name, schema]) => [name, strictOf(name, schema)]);
  for (const { spec } of customResources) {
    for (const { name: version, schema } of spec.versions) {
      const id = [spec.group, version, spec.names.kind].join('/');
      names.set(id, id.replaceAll('/', '.'));
      all.push([names.get(id), strictBelow(schema.openAPIV3Schema)]);
    }
  }
  ajv.addSchema({ $id: 'kubernetes', definitions: Object.fromEntries(all) });
  return (manifest) => {
    const name = names.get(kindOf(manifest));
    if (name === undefined) return [`the schema has no ${kindOf(manifest)}`];
    const validate = ajv.getSchema(`kubernetes#/definitions/${name}`);
    if (validate(manifest)) return [];
    return validate.errors.map(({ instancePath, message, params }) =>
      [instancePath, message, params.additionalProperty].filter(Boolean).join(' '),
    );
  };
}

/** The group of the core is empty: `v1`. */
function kindOf({ apiVersion, kind }) {
  const [version, group = ''] = apiVersion.split('/').reverse();
  return [group, version, kind].join('/');
}

function strictOf(name, schema) {
  if (name === INT_OR_STRING) return { type: ['integer', 'string'] };
  if (name === QUANTITY) return { type: ['number', 'string'] };
  if (schema.properties === undefined || schema.additionalProperties) return schema;
  return { ...schema, additionalProperties: false };
}

/**
 * A custom resource has its schema in one piece. Its patterns are in Go's syntax, which is not
 * always valid in JavaScript.
 */
function strictBelow(schema) {
  const { 'x-kubernetes-int-or-string': isIntOrString, properties, items, ...rest } = schema;
  delete rest.pattern;
  if (isIntOrString) return { type: ['integer', 'string'] };
  if (items !== undefined) return { ...rest, items: strictBelow(items) };
  if (properties === undefined) return rest;
  const inner = Object.entries(properties).map(([name, each]) => [name, strictBelow(each)]);
  return { ...rest, properties: Object.fromEntries(inner), additionalProperties: false };
}
