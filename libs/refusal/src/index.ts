export type { Dialect } from './dialect';
export { FIELDS_WITHOUT_EFFECT, refuseUnknown } from './known-fields';
export { type BoundFault, outside } from './openai-faults';
export { pythonFloat } from './python-text';
export { type RenderedError, renderError, renderStreamError } from './render-error';
export { RequestError, type ValueFault, valueError } from './request-error';
export {
  bodyError,
  jsonError,
  missingBody,
  missingField,
  schemaError,
  type SchemaFault,
} from './schema-error';
export { UpstreamError } from './upstream-error';
