import { RequestError } from '../errors/request-error';
import type { RequestLimits } from '../limits';

/** The served name that a request means; none means the first. Throws `model_not_found`. */
export function servedModel(name: string | null | undefined, limits: RequestLimits): string {
  const served = limits.models;
  if (name === undefined || name === null || name === '') return served[0] ?? '';
  if (served.includes(name)) return name;
  throw modelNotFound(name);
}

export function modelNotFound(name: string): RequestError {
  const shown = name.slice(0, 200);
  return new RequestError(
    'model_not_found',
    {
      message: `The model \`${shown}\` does not exist or you do not have access to it.`,
      param: null,
    },
    { message: `The model \`${shown}\` does not exist.`, param: 'model' },
  );
}
