import { spendWork } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../json';
import { pointerStep } from './keywords';
import type { SchemaPlace } from './read-schema';

/** Base URI of a document without an id. References are never fetched. */
const NAMELESS = 'schema://document/';
const MAX_DEPTH = 200;

interface Target {
  readonly schema: Json;
  readonly pointer: string;
  readonly base: string;
}

/** Resolves `$ref` within one document: pointers, anchors, and ids of the document itself. */
export class References {
  /** By absolute URI without fragment. */
  private readonly resources = new Map<string, Target>();
  /** By absolute URI with fragment. */
  private readonly anchors = new Map<string, Target>();

  constructor(private readonly document: Json) {
    this.resources.set(NAMELESS, { schema: document, pointer: '', base: NAMELESS });
    this.collect(document, { pointer: '', base: NAMELESS, depth: 0 });
  }

  baseOf(schema: JsonObject, base: string): string {
    return idOf(schema, base === '' ? NAMELESS : base) ?? (base === '' ? NAMELESS : base);
  }

  /** Throws `ConstraintError` when the document has no such schema. */
  resolve(ref: string, { base, pointer }: SchemaPlace): Target {
    const uri = absolute(ref, base === '' ? NAMELESS : base);
    const [resourceUri = '', fragment = ''] = uri?.split('#', 2) ?? [];
    const resource = this.resources.get(resourceUri);
    const isPointer = fragment === '' || fragment.startsWith('/');
    const found = isPointer
      ? resource && below(resource, decoded(fragment))
      : this.anchors.get(`${resourceUri}#${decoded(fragment)}`);
    if (found !== undefined) return found;
    const what = `$ref '${ref.slice(0, 200)}' is not found in the schema`;
    throw new ConstraintError(what, `${pointer}/$ref`);
  }

  /** Searches all keys, since schemas may stand under any key of a document. */
  private collect(value: Json, place: SchemaPlace): void {
    if (place.depth > MAX_DEPTH) return;
    spendWork(1);
    const depth = place.depth + 1;
    if (isJsonArray(value)) {
      value.forEach((item, i) => {
        this.collect(item, { ...place, pointer: `${place.pointer}/${i}`, depth });
      });
      return;
    }
    if (!isJsonObject(value)) return;
    const id = idOf(value, place.base);
    const base = id ?? place.base;
    const target = { schema: value, pointer: place.pointer, base };
    if (id !== undefined) this.resources.set(id, target);
    for (const name of ['$anchor', '$dynamicAnchor']) {
      const anchor = value[name];
      if (typeof anchor === 'string') this.anchors.set(`${base}#${anchor}`, target);
    }
    for (const [key, member] of Object.entries(value)) {
      if (key === 'enum' && isJsonArray(member)) continue;
      this.collect(member, { pointer: `${place.pointer}/${pointerStep(key)}`, base, depth });
    }
  }
}

function below(resource: Target, pointer: string): Target | undefined {
  let { schema, base } = resource;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replace(/~1/g, '/').replace(/~0/g, '~');
    const next: Json | undefined = isJsonArray(schema)
      ? schema[Number(key)]
      : isJsonObject(schema) && Object.hasOwn(schema, key)
        ? schema[key]
        : undefined;
    if (next === undefined) return undefined;
    schema = next;
    if (isJsonObject(schema)) base = idOf(schema, base) ?? base;
  }
  return { schema, pointer: resource.pointer + pointer, base };
}

function idOf(schema: JsonObject, base: string): string | undefined {
  const id = Object.hasOwn(schema, '$id') ? schema['$id'] : undefined;
  if (typeof id !== 'string') return undefined;
  return absolute(id, base)?.split('#', 1)[0];
}

function absolute(uri: string, base: string): string | undefined {
  if (!URL.canParse(uri, base)) return undefined;
  return new URL(uri, base).href;
}

function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}
