export { busyUs, DISPATCHES, passUs, VLLM_FRONT_END } from './front-end';
export type { Dispatch, FrontEnd } from './front-end';
export { FrontEndError, frontEndFromFields } from './front-end-from-fields';
