export {
  ALLOW_OOM,
  type Script,
  type ScriptCall,
  type ScriptCalls,
  type ScriptReply,
  ScriptRunner,
  type ScriptValue,
} from './script';
