import type { BatonError } from '@baton/contract';
import { registerDecorator, validateSync, type ValidationArguments } from 'class-validator';
import { type ValueFault, valueError } from '../errors/request-error';
import { schemaError, type SchemaFault } from '../errors/schema-error';
import { below, checkField, type Field, type JsonSchema, objectSchema, type Shape } from './shapes';

type RuleArguments = Pick<ValidationArguments, 'value' | 'object' | 'property'>;
type Explain<Finding> = (args: RuleArguments) => Finding | undefined;

type Group = 'shape' | 'range';

/** What the decorators of one DTO class declare: class-validator decides whether a rule holds, `explain` says why not. */
interface Declared {
  readonly fields: Map<string, Field>;
  readonly bounds: Map<string, JsonSchema>;
  readonly explain: Map<string, Explain<unknown>>;
}

const declaredBy = new Map<object, Declared>();

/** The field has this shape; absent and null are fine unless `isRequired`. */
export function Is(
  shape: Shape,
  options: { readonly isRequired?: boolean } = {},
): PropertyDecorator {
  const explain: Explain<readonly SchemaFault[]> = ({ value, object, property }) => {
    const faults = checkField(value, { shape, ...options }, object);
    return faults.length === 0 ? undefined : faults.map((fault) => below(property, fault));
  };
  return (target, property) => {
    declared(target).fields.set(String(property), { shape, ...options });
    register('shape', explain)(target, property);
  };
}

/**
 * The value is in its range; asked only when every field has its shape, and never about null.
 *
 * @param bounds  as much of the range as JSON Schema can say, for other people's programs
 */
export function Within<Value, Body = unknown>(
  check: (value: Value, body: Body) => Omit<ValueFault, 'field'> | undefined,
  bounds: JsonSchema = {},
): PropertyDecorator {
  const explain: Explain<BatonError> = ({ value, object, property }) => {
    if (value === undefined || value === null) return undefined;
    const fault = check(value as Value, object as Body);
    return fault === undefined ? undefined : valueError({ field: property, ...fault });
  };
  return (target, property) => {
    declared(target).bounds.set(String(property), bounds);
    register('range', explain)(target, property);
  };
}

/**
 * Copies the known fields of a body into its DTO and checks them: first every field's shape, all faults in one error as pydantic
 * reports them, then the ranges, of which the first that fails is thrown.
 */
export function validateBody<Dto extends object>(
  dto: Dto,
  body: Readonly<Record<string, unknown>>,
): Dto {
  for (const { fields } of lineage(dto)) {
    for (const field of fields.keys()) Reflect.set(dto, field, ownValue(body, field));
  }
  const faults = findings<SchemaFault>(dto, 'shape');
  if (faults.length > 0)
    throw schemaError(
      faults.map((fault) => (fault.input === dto ? { ...fault, input: body } : fault)),
    );
  const [outOfRange] = findings<BatonError>(dto, 'range');
  if (outOfRange !== undefined) throw outOfRange;
  return dto;
}

/** The fields of a DTO as a JSON Schema, with as much of their ranges as is declared. */
export function schemaOf(dto: object): JsonSchema {
  const fields = lineage(dto).flatMap((own) =>
    [...own.fields].map(([name, field]) => [name, bounded(field, own.bounds.get(name))] as const),
  );
  return objectSchema(Object.fromEntries(fields));
}

function bounded(field: Field, bounds: JsonSchema = {}): Field {
  return { ...field, shape: { ...field.shape, schema: { ...field.shape.schema, ...bounds } } };
}

/** What a body inherits (`constructor`, `__proto__`) is none of its fields. */
function ownValue(body: Readonly<Record<string, unknown>>, field: string): unknown {
  return Object.hasOwn(body, field) ? body[field] : undefined;
}

function register(group: Group, explain: Explain<unknown>): PropertyDecorator {
  return (target, property) => {
    declared(target).explain.set(`${group} ${String(property)}`, explain);
    registerDecorator({
      name: group,
      target: target.constructor,
      propertyName: String(property),
      options: { groups: [group] },
      validator: {
        validate: (_value: unknown, args?: ValidationArguments) =>
          args !== undefined && explain(args) === undefined,
      },
    });
  };
}

function findings<Finding>(dto: object, group: Group): Finding[] {
  const classes = lineage(dto);
  return validateSync(dto, { groups: [group] }).flatMap(({ property, value }) => {
    const rule = `${group} ${property}`;
    const explain = classes
      .map((own) => own.explain.get(rule))
      .find((found) => found !== undefined);
    return (explain?.({ value, object: dto, property }) ?? []) as Finding | Finding[];
  });
}

function declared(target: object): Declared {
  let own = declaredBy.get(target);
  if (own === undefined) {
    own = { fields: new Map(), bounds: new Map(), explain: new Map() };
    declaredBy.set(target, own);
  }
  return own;
}

/** Declarations of a DTO's class and of those that it extends, the base first. */
function lineage(dto: object): Declared[] {
  const classes: Declared[] = [];
  let prototype = Object.getPrototypeOf(dto) as object | null;
  for (; prototype !== null; prototype = Object.getPrototypeOf(prototype) as object | null) {
    const own = declaredBy.get(prototype);
    if (own !== undefined) classes.unshift(own);
  }
  return classes;
}
