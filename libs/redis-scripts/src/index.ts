export {
  ALLOW_OOM,
  type Script,
  type ScriptCall,
  type ScriptCalls,
  type ScriptReply,
  ScriptRunner,
  type ScriptValue,
} from './script';
export { type JobTaker, placeOf, TAKING_ORDER } from './taking-order';
