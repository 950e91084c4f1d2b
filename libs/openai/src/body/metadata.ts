import { getMetadataStorage } from 'class-validator';
import type { BodyClass } from './declare';

type Storage = ReturnType<typeof getMetadataStorage>;
/** One decorator of a field. */
export type Declared = ReturnType<Storage['getTargetValidationMetadatas']>[number];

/** The decorators of a field, in the order of their lines from below. */
export function metadataOf(body: BodyClass, field: string): readonly Declared[] {
  return declaredIn(body).filter(({ propertyName }) => propertyName === field);
}

/** The names of the fields that a class declares, with those of its bases. */
export function fieldsOf(body: BodyClass): ReadonlySet<string> {
  const known = fields.get(body);
  if (known !== undefined) return known;
  const found = new Set(declaredIn(body).map(({ propertyName }) => propertyName));
  fields.set(body, found);
  return found;
}

const fields = new WeakMap<BodyClass, ReadonlySet<string>>();

/** The fields of a checked body that its class declares. */
export function declaredPart<Body extends object>(type: BodyClass<Body>, body: Body): Body {
  const declared = fieldsOf(type);
  return Object.fromEntries(Object.entries(body).filter(([name]) => declared.has(name))) as Body;
}

function declaredIn(body: BodyClass): readonly Declared[] {
  return getMetadataStorage().getTargetValidationMetadatas(body, '', true, false);
}

/** The name of a decorator's rule: `isInt`, `min`, `nestedValidation`. */
export function ruleOf({ type, constraintCls }: Declared): string {
  const [constraint] = getMetadataStorage().getTargetValidatorConstraints(constraintCls);
  return constraint?.name ?? type;
}

/** Whether a value breaks the rule of a decorator, without its `each`. */
export function breaks(declared: Declared, value: unknown, object: object): boolean {
  const { constraintCls, constraints, propertyName: property } = declared;
  const args = { targetName: '', property, object, value, constraints };
  return getMetadataStorage()
    .getTargetValidatorConstraints(constraintCls)
    .some(({ instance }) => instance.validate(value, args) !== true);
}
