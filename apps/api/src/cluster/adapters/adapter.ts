import { type Adapter, isAdapter } from '@baton/config';
import { isObject, type JsonFields } from '@baton/kernel';
import { RequestError } from '@baton/openai';

/** The body of a request to load an adapter. @throws RequestError with vLLM's message */
export function adapterOfBody(body: unknown): Adapter & { readonly inPlace: boolean } {
  const { lora_name: name, lora_path: path, load_inplace: inPlace = false } = adapterFields(body);
  if (!isGiven(name) || !isGiven(path)) {
    throw invalid("Both 'lora_name' and 'lora_path' must be provided.");
  }
  if (!isAdapter({ name, path }))
    throw invalid("'lora_name' or 'lora_path' is not a valid string.");
  if (typeof inPlace !== 'boolean') throw invalid("'load_inplace' must be true or false.");
  return { name: name as string, path: path as string, inPlace };
}

/** The body of a request to unload an adapter. @throws RequestError with vLLM's message */
export function adapterNameOfBody(body: unknown): string {
  const { lora_name: name } = adapterFields(body);
  if (!isGiven(name)) throw invalid("'lora_name' needs to be provided to unload a LoRA adapter.");
  if (typeof name !== 'string') throw invalid("'lora_name' is not a valid string.");
  return name.slice(0, 256);
}

function adapterFields(body: unknown): JsonFields {
  if (!isObject(body)) throw invalid('The body must be a JSON object.');
  return body;
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}

function invalid(message: string): RequestError {
  const text = { message, param: null };
  return new RequestError('invalid_adapter', text);
}
