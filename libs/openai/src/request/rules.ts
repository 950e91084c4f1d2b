import type { EngineParameters } from '@baton/contract';
import { schemaError, type SchemaFault } from '../refusal/schema-error';
import { valueError, type ValueFault } from '../refusal/request-error';
import { below, checkField, type Field, type JsonSchema, objectSchema, type Shape } from './shapes';

type Complaint = Omit<ValueFault, 'field'> | undefined;
type RangeCheck = (value: unknown, body: object) => Complaint;

/** The declarations of one field of a DTO class. */
interface Rule extends Field {
  readonly name: string;
  readonly check?: RangeCheck;
  /** The part of the range that JSON Schema can express. */
  readonly bounds?: JsonSchema;
  /** The engine parameter that the field sets. */
  readonly parameter?: keyof EngineParameters;
}

type Ranged = Rule & Required<Pick<Rule, 'check'>>;
type ForEngineRule = Rule & Required<Pick<Rule, 'parameter'>>;

/** A decorator of a property whose type is among the values that the rule accepts. */
type Declares<Value> = <Name extends string>(
  target: { readonly [Key in Name]?: Value | null },
  property: Name,
) => void;

const declaredBy = new Map<object, Map<string, Rule>>();
const compiled = new WeakMap<object, Compiled>();

/** The rules of a DTO class and its bases, in two orders. */
interface Compiled {
  /** The class's own rules first, then those of its bases: the order of errors. */
  readonly asChecked: readonly Rule[];
  /** The base's rules first: the order of a schema. */
  readonly asWritten: readonly Rule[];
  /** Rules with a range, in the order of checks. */
  readonly ranged: readonly Ranged[];
  /** Rules that set an engine parameter, in the order of a schema. */
  readonly forEngine: readonly ForEngineRule[];
  readonly shapes: ReadonlyMap<string, Shape>;
}

/** The field has this shape. Absent and null values pass unless `isRequired`. */
export function Is<Value>(
  shape: Shape<Value>,
  options: { readonly isRequired?: boolean } = {},
): Declares<Value> {
  return (target, property) => declareField(target, property, { shape, ...options });
}

/**
 * The value is in its range. Called only when every field has its shape, and never with null.
 *
 * @param bounds the part of the range that JSON Schema can express, for the published schema
 */
export function Within<Value, Body = unknown>(
  check: (value: Value, body: Body) => Complaint,
  bounds: JsonSchema = {},
): Declares<Value> {
  return (target, property) =>
    declareField(target, property, { check: check as RangeCheck, bounds });
}

/** The value goes to the engines as this parameter. Null counts as absent. */
export function ForEngine<Name extends keyof EngineParameters>(
  parameter: Name,
): Declares<EngineParameters[Name]> {
  return (target, property) => declareField(target, property, { parameter });
}

/** Adds a declaration to a field of a DTO class. */
export function declareField(target: object, name: string, part: Partial<Rule>): void {
  const rules = declaredBy.get(target) ?? new Map<string, Rule>();
  declaredBy.set(target, rules);
  rules.set(name, { ...(rules.get(name) as Rule), ...part, name });
}

/**
 * Copies the declared fields of a body into its new DTO and checks them. First come the shapes of
 * all fields, with all faults in one error as in pydantic; then the ranges, with the first fault.
 * Throws `BatonError`.
 */
export function validateBody<Dto extends object>(
  dto: Dto,
  body: Readonly<Record<string, unknown>>,
): Dto {
  const { asChecked, ranged } = rulesOf(dto);
  const fields = dto as Record<string, unknown>;
  const faults: SchemaFault[] = [];
  for (const rule of asChecked) {
    // Inherited properties of a body (`constructor`, `__proto__`) are not fields.
    const isThere = Object.hasOwn(body, rule.name);
    // The field of a new DTO is undefined already.
    if (!isThere && rule.isRequired !== true) continue;
    const value = isThere ? body[rule.name] : undefined;
    fields[rule.name] = value;
    const found = checkField(value, rule, body);
    for (const fault of found) faults.push(below(rule.name, fault));
  }
  if (faults.length > 0) throw schemaError(faults);
  for (const { name, check } of ranged) {
    const value = fields[name];
    if (value === undefined || value === null) continue;
    const complaint = check(value, fields);
    if (complaint !== undefined) throw valueError({ field: name, ...complaint });
  }
  return dto;
}

/** The fields of a DTO as a JSON Schema, with the declared bounds of their ranges. */
export function schemaOf(dto: object): JsonSchema {
  const fields = rulesOf(dto).asWritten.map((rule) => [rule.name, bounded(rule)] as const);
  return objectSchema(Object.fromEntries(fields));
}

/** The shapes of all fields that a DTO class declares, by their names. */
export function fieldShapes(dto: object): ReadonlyMap<string, Shape> {
  return rulesOf(dto).shapes;
}

/** The parameters of a checked body for engines. Undefined when it has none. */
export function engineParametersOf(dto: object): EngineParameters | undefined {
  let requested: Record<string, unknown> | undefined;
  for (const { name, parameter } of rulesOf(dto).forEngine) {
    const value = (dto as Record<string, unknown>)[name];
    if (value !== undefined && value !== null) (requested ??= {})[parameter] = value;
  }
  return requested as EngineParameters | undefined;
}

/** Names of the fields that set a parameter of engines. */
export function engineFields(dto: object): string[] {
  return rulesOf(dto).forEngine.map(({ name }) => name);
}

function bounded({ shape, bounds, ...field }: Rule): Field {
  return { ...field, shape: { ...shape, schema: { ...shape.schema, ...bounds } } };
}

function rulesOf(dto: object): Compiled {
  const prototype = Object.getPrototypeOf(dto) as object;
  const known = compiled.get(prototype) ?? compile(prototype);
  compiled.set(prototype, known);
  return known;
}

function compile(prototype: object): Compiled {
  const own = [...(declaredBy.get(prototype)?.values() ?? [])];
  const inherited: Rule[] = [];
  let base = Object.getPrototypeOf(prototype) as object | null;
  for (; base !== null; base = Object.getPrototypeOf(base) as object | null) {
    inherited.unshift(...(declaredBy.get(base)?.values() ?? []));
  }
  const asWritten = [...inherited, ...own];
  const asChecked = [...own, ...inherited];
  return {
    asChecked,
    asWritten,
    ranged: asChecked.filter((rule): rule is Ranged => rule.check !== undefined),
    forEngine: asWritten.filter((rule): rule is ForEngineRule => rule.parameter !== undefined),
    shapes: new Map(asWritten.map(({ name, shape }) => [name, shape])),
  };
}
