import { targetConstructorToSchema } from 'class-validator-jsonschema';
import { type BodyClass, HOLDS, IS, isOrText, type OwnType, typesIn } from './declare';
import { type Declared, metadataOf, ruleOf } from './metadata';

/** JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** Whether only some bodies need the field, which a schema does not show. */
function isConditional(declared: Declared): boolean {
  return ruleOf(declared) === 'conditionalValidation' && !isOrText(declared);
}

/** The fields of a class as a JSON Schema. Fields that may be absent may be null. */
export function schemaOf(body: BodyClass): JsonSchema {
  const options: Parameters<typeof targetConstructorToSchema>[1] = {
    skipMissingProperties: true,
    additionalConverters: {
      isDefined: {},
      arrayNotContains: {},
      isNotEmpty: {},
      [IS]: ({ constraints }) => (constraints[0] as OwnType).schema,
      [HOLDS]: ({ constraints }) => constraints[1] as JsonSchema,
      nestedValidation: ({ target, propertyName }) =>
        schemaOf(typesIn(target as BodyClass).get(propertyName)!),
    },
  };
  const { properties = {}, required: defined = [] } = targetConstructorToSchema(body, options);
  const required = defined.filter((name) => !metadataOf(body, name).some(isConditional));
  const fields = Object.entries(properties).map(([name, schema]) => {
    const branches = [
      ...(metadataOf(body, name).some(isOrText) ? [{ type: 'string' }] : []),
      schema,
      ...(required.includes(name) ? [] : [{ type: 'null' }]),
    ];
    return [name, branches.length === 1 ? branches[0] : { anyOf: branches }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    ...(required.length === 0 ? {} : { required }),
  };
}
