import { lastSegment } from '@baton/kernel';
import type { JsonSchema } from '@baton/openai';
import { DOCS_STYLE } from './docs-style';
import type { DescribedOperation, OpenApiDocument } from './openapi-document';

/** The fields shown for one operation. */
interface Entry {
  readonly method: string;
  readonly path: string;
  readonly operation: DescribedOperation;
}

/** The OpenAPI document as an HTML page without scripts and without external resources. */
export function docsPage(document: OpenApiDocument): string {
  const entries = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })),
  );
  const groups = document.tags
    .map(({ name }) => ({ name, of: entries.filter(({ operation }) => isTagged(operation, name)) }))
    .filter(({ of }) => of.length > 0);
  const links = groups.map(({ name }) => `<a href="#${anchor(name)}">${escaped(name)}</a>`);
  const sections = groups.map(({ name, of }) => {
    const rows = of.map((entry) => operationHtml(entry, document)).join('\n');
    return `<section id="${anchor(name)}"><h2>${escaped(name)}</h2>\n${rows}</section>`;
  });
  const { title, version, description } = document.info;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escaped(title)} API</title><style>${DOCS_STYLE}</style></head>
<body><header><h1>${escaped(title)} <small>${escaped(version)}</small></h1>
<p>${escaped(description)}</p><p><a href="openapi.json">openapi.json</a></p>
<nav>${links.join(' ')}</nav></header><main>
${sections.join('\n')}
</main></body></html>
`;
}

function isTagged({ tags }: DescribedOperation, name: string): boolean {
  return tags.includes(name);
}

function operationHtml({ method, path, operation }: Entry, document: OpenApiDocument): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const schema = requestBody?.content['application/json']?.schema;
  const body =
    schema === undefined ? '' : fieldsHtml('Body', schemaFields(resolved(schema, document)));
  const given = parameters.map(({ name, required, description: note = '', schema: form }) => ({
    name,
    isRequired: required,
    form: typeName(form),
    note,
  }));
  const types = Object.keys(((responses['200'] ?? responses['202'])?.['content'] ?? {}) as object);
  const answer = types.length === 0 ? 'no body' : types.map(escaped).join(' or ');
  return `<details id="${operationId}"><summary><b class="${method}">${method.toUpperCase()}</b> <code>${escaped(path)}</code> <span>${escaped(summary)}</span></summary>
<p>${escaped(description)}</p>${fieldsHtml('Parameters', given)}${body}<p>Answers with ${answer}.</p></details>`;
}

interface FieldRow {
  readonly name: string;
  readonly isRequired: boolean;
  readonly form: string;
  readonly note?: string;
}

function schemaFields({ properties = {}, required = [] }: JsonSchema): FieldRow[] {
  const names = new Set(required as readonly string[]);
  const rows = Object.entries(properties as Record<string, JsonSchema>).map(([name, form]) => ({
    name,
    isRequired: names.has(name),
    form: typeName(form),
    note: rangeOf(form),
  }));
  return rows.sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

function fieldsHtml(heading: string, rows: readonly FieldRow[]): string {
  if (rows.length === 0) return '';
  const cells = rows.map(
    ({ name, isRequired, form, note = '' }) =>
      `<tr><td><code>${escaped(name)}</code></td><td>${escaped(form)}</td>` +
      `<td>${isRequired ? 'required' : ''}</td><td>${escaped(note)}</td></tr>`,
  );
  return `<h3>${heading}</h3><table>${cells.join('')}</table>`;
}

function resolved(schema: JsonSchema, { components }: OpenApiDocument): JsonSchema {
  return components.schemas[lastSegment(String(schema['$ref'] ?? ''))] ?? schema;
}

/** A schema in a few words: `string or list of integer`. */
function typeName(schema: JsonSchema): string {
  const branches = schema['anyOf'] as readonly JsonSchema[] | undefined;
  if (branches !== undefined) {
    const names = branches.map(typeName).filter((name) => name !== 'null');
    return [...new Set(names)].join(' or ');
  }
  if (schema['type'] !== 'array') return String(schema['type'] ?? 'anything');
  return `list of ${typeName((schema['items'] ?? {}) as JsonSchema)}`;
}

/** The range of a schema in words: `0 to 2`, `above 0 to 1`, `one of left, right`. */
function rangeOf(schema: JsonSchema): string {
  const [own = schema] = (schema['anyOf'] ?? []) as readonly JsonSchema[];
  const { minimum, exclusiveMinimum, maximum, maxItems } = own;
  if (Array.isArray(own['enum'])) return `one of ${own['enum'].join(', ')}`;
  const parts = [
    ...(minimum === undefined ? [] : [`from ${String(minimum)}`]),
    ...(exclusiveMinimum === undefined ? [] : [`above ${String(exclusiveMinimum)}`]),
    ...(maximum === undefined ? [] : [`to ${String(maximum)}`]),
    ...(maxItems === undefined ? [] : [`at most ${String(maxItems)}`]),
  ];
  return parts.join(' ');
}

function anchor(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
