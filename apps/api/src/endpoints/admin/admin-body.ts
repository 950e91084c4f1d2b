import { isObject } from '@baton/kernel';
import { BatonError, type Stage, STAGES } from '@baton/contract';
import { MAX_ENGINES } from '@baton/policies';

/** The engines that an order adds. */
export interface JoinOrder {
  readonly role: Stage;
  readonly count: number;
}

/** @throws BatonError `invalid_type`, `invalid_value` */
export function joinOrderOf(body: unknown): JoinOrder {
  return { role: roleOf(body), count: engineCountOf(body) };
}

/** The role that a request names. @throws BatonError `invalid_type`, `invalid_value` */
export function roleOf(body: unknown): Stage {
  const given = bodyFields(body)['role'];
  const role = STAGES.find((stage) => stage === given);
  if (role !== undefined) return role;
  const known = STAGES.map((stage) => `'${stage}'`).join(', ');
  throw new BatonError('invalid_value', `role must be one of ${known}.`, 'role');
}

/**
 * The number of engines in an order; default 1. @throws BatonError `invalid_type`, `invalid_value`
 */
function engineCountOf(body: unknown): number {
  const { count = 1 } = bodyFields(body);
  if (Number.isInteger(count) && Number(count) >= 1 && Number(count) <= MAX_ENGINES) {
    return Number(count);
  }
  const message = `count must be an integer from 1 to ${MAX_ENGINES}.`;
  throw new BatonError('invalid_value', message, 'count');
}

export function bodyFields(body: unknown): Readonly<Record<string, unknown>> {
  if (isObject(body)) return body;
  throw new BatonError('invalid_type', 'The body must be a JSON object.');
}
