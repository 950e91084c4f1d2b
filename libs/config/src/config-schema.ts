import { configKeys, optionOf, type ConfigKey } from './config';
import { fileName } from './names';
import type { ListForm, ValueForm } from './option';

/** The JSON Schema of a configuration file, for editors and CI. */
export function configSchema(): object {
  const visible = configKeys().filter((key) => !optionOf(key).hidden);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Baton configuration',
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(visible.map((key) => [fileName(key), propertyOf(key)])),
  };
}

function propertyOf(key: ConfigKey): object {
  const option = optionOf(key);
  const unit = option.unit === undefined ? '' : ` Unit: ${option.unit}.`;
  return {
    description: `${option.help}${unit}`,
    ...typeOf(option.form),
    ...(option.default === undefined ? {} : { default: option.default }),
  };
}

function rowOf(columns: readonly string[]): object {
  const properties = columns.map((column) => [column, { type: 'integer', minimum: 1 }]);
  return {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
  };
}

function itemOf({ choices, pattern }: ListForm): object {
  if (choices !== undefined) return { enum: choices };
  return { type: 'string', ...(pattern ? { pattern: pattern.source } : { minLength: 1 }) };
}

function typeOf(form: ValueForm): object {
  switch (form.kind) {
    case 'text':
      return {
        type: 'string',
        ...(form.pattern === undefined ? {} : { pattern: form.pattern.source }),
      };
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return form.orModule === true
        ? { anyOf: [{ enum: form.choices }, { type: 'string', pattern: '\\.m?js$' }] }
        : { enum: form.choices };
    case 'list':
      return { type: ['array', 'string'], items: itemOf(form) };
    case 'document':
      return form.schema;
    case 'table':
      return { type: 'object', additionalProperties: rowOf(form.columns) };
    case 'integer':
      return { type: form.kind, minimum: form.min, maximum: form.max };
    case 'number': {
      const type = form.duration === undefined ? form.kind : [form.kind, 'string'];
      return { type, minimum: form.min, maximum: form.max };
    }
  }
}
