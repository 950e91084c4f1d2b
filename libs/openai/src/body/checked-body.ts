import { isObject } from '@baton/kernel';
import { validateSync, type ValidatorOptions } from 'class-validator';
import type { Dialect } from '../refusal/dialect';
import { noObject, schemaError } from '../refusal/body-error';
import { acceptedIn, type BodyClass, typesIn } from './declare';
import { refusalOf, unknownField } from './refusal';

/** Most levels of a body, so that recursive readers are safe. */
const MAX_DEPTH = 200;

/** The dialect, and whether the `openai` dialect ignores unknown fields too. */
export interface Checking {
  readonly dialect: Dialect;
  readonly acceptsUnknownFields?: boolean | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/** A field may be absent or null unless it is `@IsDefined`. */
const OPTIONS: ValidatorOptions = { stopAtFirstError: true, skipMissingProperties: true };
const STRICT: ValidatorOptions = { ...OPTIONS, whitelist: true, forbidNonWhitelisted: true };

/**
 * A body as an object of its class: with all its fields, checked by the decorators of the class. A
 * body that is one already is returned as it is.
 *
 * @throws BatonError for the first fault
 */
export function checkedBody<Body extends object>(
  type: BodyClass<Body>,
  body: unknown,
  { dialect, acceptsUnknownFields }: Checking,
): Body & Fields {
  if (body instanceof type) return body as Body & Fields;
  const fields = objectBody(body);
  const made = madeOf(type, fields);
  const isStrict = dialect === 'openai' && acceptsUnknownFields !== true;
  const refusal = refusalOf(validateSync(made, isStrict ? STRICT : OPTIONS));
  if (refusal !== undefined) throw refusal;
  if (isStrict && acceptedIn(type) !== undefined) refuseDropped(type, fields, made);
  return made as Body & Fields;
}

/** The body as an object, of bounded depth. Throws `BatonError` for anything else. */
export function objectBody(body: unknown): Fields {
  if (!isObject(body)) throw noObject();
  checkDepth(body);
  return body;
}

/**
 * An object of the class with the fields of a body, and below it objects of the classes of its
 * nested fields. Other values stay as they are: `plainToInstance` copies them, loses the names that
 * objects inherit (a schema may have a property `constructor`), and calls what it finds there.
 */
function madeOf(type: BodyClass, plain: Fields): object {
  const made = Object.create(type.prototype as object) as Record<string, unknown>;
  for (const name of Object.keys(plain)) if (!HAZARDS.has(name)) made[name] = plain[name];
  for (const [name, inner] of typesIn(type)) {
    const value = made[name];
    if (typeof value !== 'object' || value === null) continue;
    made[name] = Array.isArray(value)
      ? value.map((item: unknown) => (isObject(item) ? madeOf(inner, item) : item))
      : madeOf(inner, value as Fields);
  }
  return made;
}

/** Names that would change the class of an object. */
const HAZARDS: ReadonlySet<string> = new Set(['__proto__', 'constructor']);

/** Refuses the fields that `madeOf` has left out: no class declares them. */
function refuseDropped(type: BodyClass, body: Fields, made: object): void {
  const dropped = Object.keys(body).find((name) => !Object.hasOwn(made, name));
  if (dropped !== undefined) throw unknownField([dropped], type);
}

/**
 * Walks the body level by level without recursion, because a body can have as many levels as
 * characters.
 */
function checkDepth(body: object): void {
  let level: object[] = [body];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) {
      const message = `The request body is nested more than ${MAX_DEPTH} levels deep.`;
      throw schemaError([], { message });
    }
    const next: object[] = [];
    for (const one of level) {
      for (const value of Object.values(one) as unknown[]) {
        if (typeof value === 'object' && value !== null) next.push(value);
      }
    }
    level = next;
  }
}
