import { join } from 'node:path';
import ts from 'typescript';
import { ROOT } from '../../tidy/repository';
import { COUNTS, type FieldRule, type TypeRules } from './field-rule';

type Schema = Readonly<Record<string, unknown>>;

/**
 * The types that answers have, by module of the official clients. Both are generated from the
 * published specifications.
 */
const MODULES = {
  openai: 'node_modules/openai/resources',
  anthropic: 'node_modules/@anthropic-ai/sdk/resources',
} as const;

export type Publisher = keyof typeof MODULES;

/**
 * JSON Schemas of the types that an official client declares for the answers it reads. Each object
 * is closed: a field that its type does not have is a fault, unless `rules` lists it. One instance
 * holds one compiler run.
 */
export class SdkSchemas {
  private readonly checker: ts.TypeChecker;
  private readonly declared = new Map<string, ts.Symbol>();

  constructor(publisher: Publisher, modules: readonly string[]) {
    const files = modules.map((name) => join(ROOT, MODULES[publisher], `${name}.d.ts`));
    const program = ts.createProgram(files, {
      strict: true,
      skipLibCheck: true,
      types: [],
      // Without the types of a browser, which no answer has.
      lib: ['lib.es2022.d.ts'],
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
    });
    this.checker = program.getTypeChecker();
    for (const file of files) {
      const source = program.getSourceFile(file);
      const module = source && this.checker.getSymbolAtLocation(source);
      for (const symbol of module ? this.checker.getExportsOfModule(module) : []) {
        this.declared.set(symbol.name, symbol);
      }
    }
  }

  /** @param id  the start of the `$id` of each definition */
  writer(id: string, rules: TypeRules): SchemaWriter {
    return new SchemaWriter(this.checker, this.declared, { id, rules });
  }
}

/** Writes types as schemas that share the definitions of their objects. */
export class SchemaWriter {
  private definitions: Record<string, Schema> = {};
  private readonly names = new Map<ts.Type, string>();
  private readonly taken = new Set<string>();
  private readonly id: string;
  private readonly rules: TypeRules;

  constructor(
    private readonly checker: ts.TypeChecker,
    private readonly declared: ReadonlyMap<string, ts.Symbol>,
    { id, rules }: { readonly id: string; readonly rules: TypeRules },
  ) {
    this.id = id;
    this.rules = rules;
  }

  /** The schema of an exported type, and the definitions that no type before it had. */
  write(name: string): { readonly schema: Schema; readonly definitions: readonly Schema[] } {
    const symbol = this.declared.get(name);
    if (symbol === undefined) throw new TypeError(`no type ${name} in the client`);
    this.definitions = {};
    const schema = this.of(this.checker.getDeclaredTypeOfSymbol(symbol), name);
    const fresh = Object.entries(this.definitions);
    return { schema, definitions: fresh.map(([own, one]) => ({ $id: this.idOf(own), ...one })) };
  }

  private idOf(definition: string): string {
    return `${this.id}/${encodeURIComponent(definition)}`;
  }

  /** @param field  the name of the field of this type, which distinguishes counts from numbers */
  private of(type: ts.Type, field: string): Schema {
    const { flags } = type;
    if (type.isUnion()) return this.union(type, field);
    // `string & {}` keeps the names of a union beside any other text.
    if (type.isIntersection()) return this.of(type.types[0]!, field);
    if (type.isLiteral()) return { const: type.value };
    if (flags & ts.TypeFlags.BooleanLiteral) {
      return { const: this.checker.typeToString(type) === 'true' };
    }
    if (flags & ts.TypeFlags.StringLike) return { type: 'string' };
    if (flags & ts.TypeFlags.NumberLike) return COUNTS.test(field) ? COUNT : { type: 'number' };
    if (flags & ts.TypeFlags.BooleanLike) return { type: 'boolean' };
    if (flags & ts.TypeFlags.Null) return { type: 'null' };
    if (flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
    if (this.checker.isArrayType(type)) {
      const [item] = this.checker.getTypeArguments(type as ts.TypeReference);
      return { type: 'array', items: this.of(item!, field) };
    }
    return { $ref: this.idOf(this.object(type)) };
  }

  private union(type: ts.UnionType, field: string): Schema {
    const members = type.types.filter((one) => !(one.flags & ts.TypeFlags.Undefined));
    return { anyOf: members.map((one) => this.of(one, field)) };
  }

  private object(type: ts.Type): string {
    const known = this.names.get(type);
    if (known !== undefined) return known;
    const name = this.freeName(nameOf(type, this.checker));
    this.names.set(type, name);
    this.definitions[name] = this.record(type, this.rules[nameOf(type, this.checker)] ?? {});
    return name;
  }

  private record(type: ts.Type, rules: Readonly<Record<string, FieldRule>>): Schema {
    const properties: Record<string, object> = {};
    const required: string[] = [];
    for (const property of this.checker.getPropertiesOfType(type)) {
      const own = this.of(this.checker.getTypeOfSymbol(property), property.name);
      const rule = rules[property.name];
      properties[property.name] = rule?.also === undefined ? own : { anyOf: [own, rule.also] };
      const isOptional = (property.flags & ts.SymbolFlags.Optional) !== 0;
      if (!isOptional && rule?.isAbsent !== true) required.push(property.name);
    }
    for (const [field, { extra }] of Object.entries(rules)) {
      if (extra !== undefined) properties[field] = extra;
    }
    const values = this.checker.getIndexTypeOfType(type, ts.IndexKind.String);
    const additionalProperties = values === undefined ? false : this.of(values, '');
    return { type: 'object', properties, required, additionalProperties };
  }

  private freeName(name: string): string {
    let free = name;
    for (let i = 2; this.taken.has(free); i++) free = `${name}-${i}`;
    this.taken.add(free);
    return free;
  }
}

const COUNT = { type: 'integer', minimum: 0 };

/** `ChatCompletionChunk.Choice.Delta`. A type without a name is called by its text. */
function nameOf(type: ts.Type, checker: ts.TypeChecker): string {
  const symbol = type.aliasSymbol ?? type.getSymbol();
  if (symbol === undefined || symbol.name === '__type') return checker.typeToString(type);
  return checker.getFullyQualifiedName(symbol).replace(/^".*"\./, '');
}
