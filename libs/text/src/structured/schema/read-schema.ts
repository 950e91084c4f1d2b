import { spendWork } from '@baton/kernel';
import { ConstraintError } from '../constraint-error';
import { isJsonArray, isJsonObject, type Json, jsonKey, type JsonObject } from '../json';
import { Keywords, pointerStep } from './keywords';
import { References } from './references';
import {
  type ArrayKeywords,
  FREE,
  type LogicKeywords,
  type NumberKeywords,
  type ObjectKeywords,
  type SchemaNode,
} from './schema-node';

const MAX_DEPTH = 200;
const MAX_SCHEMAS = 20_000;
/** Cost of reading the keywords of one schema, in steps of an automaton. */
const NODE_WORK = 16;
/** Keywords that set no condition on a value. */
const ANNOTATIONS = new Set(
  `title description default examples deprecated readOnly writeOnly $comment $id $schema $anchor
   $dynamicAnchor $vocabulary $defs definitions`.split(/\s+/),
);

/** The place of a schema in its document. */
export interface SchemaPlace {
  readonly pointer: string;
  /** Base URI of its references. */
  readonly base: string;
  readonly depth: number;
}

/** A node whose references may still be unresolved. */
type OpenNode = { -readonly [K in keyof SchemaNode]: SchemaNode[K] };

/** Reads a whole schema document. Throws `ConstraintError` for a malformed one. */
export function readSchema(document: Json): SchemaNode {
  return new SchemaReader(document).read();
}

class SchemaReader {
  private readonly nodes = new Map<Json, SchemaNode>();
  private readonly references: References;
  private readonly open: (() => void)[] = [];
  private count = 0;

  constructor(private readonly document: Json) {
    this.references = new References(document);
  }

  read(): SchemaNode {
    const root = this.node(this.document, { pointer: '', base: '', depth: 0 });
    for (let resolve = this.open.pop(); resolve !== undefined; resolve = this.open.pop()) resolve();
    return root;
  }

  private node(schema: Json, place: SchemaPlace): SchemaNode {
    const { pointer } = place;
    if (typeof schema === 'boolean')
      return { ...FREE, pointer, isPossible: schema, isTrivial: schema };
    if (!isJsonObject(schema)) {
      throw new ConstraintError('a schema must be an object or a boolean', pointer);
    }
    const known = this.nodes.get(schema);
    if (known !== undefined) return known;
    if (place.depth > MAX_DEPTH) throw new ConstraintError('nested too deeply', pointer);
    if (++this.count > MAX_SCHEMAS) throw new ConstraintError('too many subschemas', pointer);
    spendWork(NODE_WORK + Object.keys(schema).length);
    const node: OpenNode = { ...FREE, pointer };
    this.nodes.set(schema, node);
    this.fill(node, schema, { ...place, base: this.references.baseOf(schema, place.base) });
    return node;
  }

  private fill(node: OpenNode, schema: JsonObject, place: SchemaPlace): void {
    const keywords = new Keywords(schema, place.pointer);
    node.isTrivial = Object.keys(schema).every((name) => ANNOTATIONS.has(name));
    node.types = keywords.types();
    node.values = keywords.has('const') ? [keywords.get('const')!] : keywords.list('enum');
    node.valueKeys = node.values && new Set(node.values.map(jsonKey));
    const defaults = keywords.has('default') ? [keywords.get('default')!] : [];
    const examples = keywords.get('examples') ?? [];
    node.suggestions = isJsonArray(examples) ? [...defaults, ...examples] : defaults;
    node.number = numberKeywords(keywords);
    const pattern = keywords.text('pattern');
    node.string = {
      minLength: keywords.count('minLength', 0),
      maxLength: keywords.count('maxLength', Infinity),
      pattern: pattern === undefined ? undefined : keywords.pattern(pattern, 'pattern'),
      format: keywords.text('format'),
    };
    node.array = this.arrayKeywords(keywords, place);
    node.object = this.objectKeywords(keywords, place);
    node.logic = this.logicKeywords(keywords, place);
    this.readDefinitions(keywords, place);
    const ref = keywords.text('$ref') ?? keywords.text('$dynamicRef');
    if (ref !== undefined) this.open.push(() => this.follow(node, ref, place));
  }

  private follow(node: OpenNode, ref: string, place: SchemaPlace): void {
    const target = this.references.resolve(ref, place);
    const depth = 0;
    node.logic = { ...node.logic, ref: this.node(target.schema, { ...target, depth }) };
  }

  private arrayKeywords(keywords: Keywords, place: SchemaPlace): ArrayKeywords {
    const items = keywords.get('items');
    const isTuple = items !== undefined && isJsonArray(items);
    const prefix = this.nodesIn(keywords, isTuple ? 'items' : 'prefixItems', place);
    return {
      prefix,
      rest: this.nodeIn(keywords, isTuple ? 'additionalItems' : 'items', place),
      contains: this.nodeIn(keywords, 'contains', place),
      minContains: keywords.count('minContains', 1),
      maxContains: keywords.count('maxContains', Infinity),
      minItems: keywords.count('minItems', 0),
      maxItems: keywords.count('maxItems', Infinity),
      isUnique: keywords.flag('uniqueItems'),
      unevaluated: this.nodeIn(keywords, 'unevaluatedItems', place),
    };
  }

  private objectKeywords(keywords: Keywords, place: SchemaPlace): ObjectKeywords {
    const patterns = keywords.members('patternProperties').map(([source]) => source);
    const patternNodes = this.membersIn(keywords, 'patternProperties', place);
    const dependencies = keywords.members('dependencies');
    const required = [...keywords.members('dependentRequired'), ...dependencies].filter(
      ([, value]) => isJsonArray(value),
    );
    const ofSchemas = this.membersIn(keywords, 'dependentSchemas', place);
    for (const [name, schema] of dependencies) {
      if (!isJsonArray(schema))
        ofSchemas.set(name, this.child(schema, place, ['dependencies', name]));
    }
    return {
      isDescribed: keywords.has('properties'),
      properties: this.membersIn(keywords, 'properties', place),
      patterns: patterns.map((source) => ({
        pattern: keywords.pattern(source, `patternProperties/${pointerStep(source)}`),
        node: patternNodes.get(source)!,
      })),
      additional: this.nodeIn(keywords, 'additionalProperties', place),
      names: this.nodeIn(keywords, 'propertyNames', place),
      required: keywords.texts('required'),
      minProperties: keywords.count('minProperties', 0),
      maxProperties: keywords.count('maxProperties', Infinity),
      dependentRequired: new Map(
        required.map(([name, value]) => [name, keywords.textsOf(value, 'dependentRequired')]),
      ),
      dependentSchemas: ofSchemas,
      unevaluated: this.nodeIn(keywords, 'unevaluatedProperties', place),
    };
  }

  private logicKeywords(keywords: Keywords, place: SchemaPlace): LogicKeywords {
    const condition = this.nodeIn(keywords, 'if', place);
    const then = this.nodeIn(keywords, 'then', place);
    const otherwise = this.nodeIn(keywords, 'else', place);
    return {
      ref: undefined,
      allOf: this.nodesIn(keywords, 'allOf', place),
      anyOf: this.nodesIn(keywords, 'anyOf', { ...place, isFilled: true }),
      oneOf: this.nodesIn(keywords, 'oneOf', { ...place, isFilled: true }),
      not: this.nodeIn(keywords, 'not', place),
      when: condition === undefined ? undefined : { condition, then, otherwise },
    };
  }

  /** Checks all definitions, also those without a reference to them. */
  private readDefinitions(keywords: Keywords, place: SchemaPlace): void {
    this.membersIn(keywords, '$defs', place);
    this.membersIn(keywords, 'definitions', place);
  }

  private nodeIn(keywords: Keywords, name: string, place: SchemaPlace): SchemaNode | undefined {
    const schema = keywords.get(name);
    return schema === undefined ? undefined : this.child(schema, place, [name]);
  }

  private nodesIn(
    keywords: Keywords,
    name: string,
    { isFilled, ...place }: SchemaPlace & { readonly isFilled?: boolean },
  ): SchemaNode[] {
    const schemas = keywords.list(name);
    if (schemas?.length === 0 && isFilled === true) throw keywords.fault(name, 'must not be empty');
    return (schemas ?? []).map((schema, i) => this.child(schema, place, [name, String(i)]));
  }

  private membersIn(keywords: Keywords, name: string, place: SchemaPlace): Map<string, SchemaNode> {
    const members = keywords.members(name);
    return new Map(members.map(([key, schema]) => [key, this.child(schema, place, [name, key])]));
  }

  private child(schema: Json, place: SchemaPlace, steps: readonly string[]): SchemaNode {
    const pointer = [place.pointer, ...steps.map(pointerStep)].join('/');
    return this.node(schema, { pointer, base: place.base, depth: place.depth + 1 });
  }
}

function numberKeywords(keywords: Keywords): NumberKeywords {
  const minimum = keywords.number('minimum');
  const maximum = keywords.number('maximum');
  const multipleOf = keywords.number('multipleOf');
  if (multipleOf !== undefined && multipleOf <= 0) {
    throw keywords.fault('multipleOf', 'must be above 0');
  }
  // In draft 4 `exclusiveMinimum: true` makes `minimum` exclusive.
  const isAbove = keywords.get('exclusiveMinimum') === true;
  const isBelow = keywords.get('exclusiveMaximum') === true;
  return {
    minimum: isAbove ? undefined : minimum,
    maximum: isBelow ? undefined : maximum,
    exclusiveMinimum: isAbove ? minimum : keywords.bound('exclusiveMinimum'),
    exclusiveMaximum: isBelow ? maximum : keywords.bound('exclusiveMaximum'),
    multipleOf,
  };
}
