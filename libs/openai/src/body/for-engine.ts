import type { EngineParameters } from '@baton/contract';
import type { BodyClass } from './declare';

type Parameter = keyof EngineParameters;

/** The parameters that the fields of a class set, by the prototype of the class. */
const parametersOf = new Map<object, Map<string, Parameter>>();

/** The value goes to the engines as this parameter. Null counts as absent. */
export function ForEngine<Name extends Parameter>(parameter: Name) {
  return <Field extends string>(
    target: { readonly [Key in Field]?: EngineParameters[Name] | null },
    field: Field,
  ): void => {
    const known = parametersOf.get(target) ?? new Map<string, Parameter>();
    parametersOf.set(target, known.set(field, parameter));
  };
}

/** The parameters of a checked body for engines. Undefined when it has none. */
export function engineParametersOf(body: object): EngineParameters | undefined {
  let requested: Record<string, unknown> | undefined;
  for (const [field, parameter] of allIn(Object.getPrototypeOf(body) as object)) {
    const value = (body as Record<string, unknown>)[field];
    if (value !== undefined && value !== null) (requested ??= {})[parameter] = value;
  }
  return requested as EngineParameters | undefined;
}

/** Names of the fields that set a parameter of engines. */
export function engineFields(body: BodyClass): string[] {
  return allIn(body.prototype as object).map(([field]) => field);
}

function allIn(prototype: object | null): (readonly [string, Parameter])[] {
  if (prototype === null) return [];
  const base = allIn(Object.getPrototypeOf(prototype) as object | null);
  return [...base, ...(parametersOf.get(prototype) ?? [])];
}
