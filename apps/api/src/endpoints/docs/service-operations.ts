import type { Operation, Operations } from './operation';

const models = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Models',
  summary,
  ...more,
});
const health = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Health and metrics',
  summary,
  ...more,
});
const development = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Development mode',
  summary,
  ...more,
});
const admin = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Administration',
  summary,
  ...more,
});
const page = (summary: string, more: Partial<Operation> = {}): Operation => ({
  tag: 'Pages',
  summary,
  ...more,
});

const NOTHING = { answers: ['nothing'] } as const;

/** What is asked by those who run, watch and test the cluster. */
export const SERVICE: Operations = {
  'GET /v1/models': models('List the models and adapters'),
  'GET /v1/models/*': models('Read a model', { star: 'model' }),
  'POST /v1/load_lora_adapter': models('Load a LoRA adapter', {
    body: 'Object',
    answers: ['text'],
  }),
  'POST /v1/unload_lora_adapter': models('Unload a LoRA adapter', {
    body: 'Object',
    answers: ['text'],
  }),
  'GET /health': health('Whether requests would be served', NOTHING),
  'GET /ping': health('Whether requests would be served', NOTHING),
  'POST /ping': health('Whether requests would be served', NOTHING),
  'GET /health/live': health('Whether the process runs'),
  'GET /health/ready': health('Whether every stage has an engine'),
  'GET /version': health('Version of the server'),
  'GET /load': health('Requests under way in this process'),
  'GET /query': health("Mooncake's bootstrap: the engines behind an engine's own port"),
  'GET /metrics': health('Metrics of the cluster for Prometheus', { answers: ['text'] }),
  'GET /v1/requests/:id/timeline': health('What became of a request, and when'),
  'GET /debug/batch': development('What the engines compute at this moment'),
  'GET /server_info': health(
    "What an engine is, at its own port, as SGLang's and TensorRT-LLM's routers ask; the configuration in development mode",
  ),
  'GET /get_server_info': health("The same, as SGLang's older routers ask"),
  'GET /model_info': health("What is served, as SGLang's routers ask"),
  'GET /get_model_info': health("The same, as SGLang's older routers ask"),
  'GET /health_generate': health('Whether requests would be served', NOTHING),
  'POST /reset_prefix_cache': development('Forget the KV of prompts', {
    query: [
      { name: 'reset_running_requests', type: 'boolean', meaning: 'Not supported.' },
      { name: 'reset_external', type: 'boolean', meaning: 'Forget what host memory holds too.' },
    ],
  }),
  'POST /reset_mm_cache': development('Forget images; there are none', NOTHING),
  'POST /reset_encoder_cache': development('Forget encodings; there are none', NOTHING),
  'POST /sleep': development('Let the engines sleep', {
    ...NOTHING,
    query: [
      { name: 'level', type: 'integer', meaning: 'How deeply, 0 to 2.' },
      { name: 'mode', type: 'string', meaning: 'What becomes of requests: abort, wait or keep.' },
    ],
  }),
  'POST /wake_up': development('Wake the engines', {
    ...NOTHING,
    query: [{ name: 'tags', type: 'string', meaning: 'weights or kv_cache; may be repeated.' }],
  }),
  'GET /is_sleeping': development('Whether the engines sleep'),
  'POST /pause': development('Stop the engines', {
    query: [
      { name: 'mode', type: 'string', meaning: 'What becomes of requests: abort, wait or keep.' },
    ],
  }),
  'POST /resume': development('Let the engines go on'),
  'GET /is_paused': development('Whether the engines are stopped'),
  'POST /abort_requests': development('End requests early', { body: 'Object' }),
  'GET /admin/engines': admin('List the engines'),
  'POST /admin/engines': admin('Let engines join', { body: 'Object' }),
  'DELETE /admin/engines/:id': admin('Let an engine leave'),
  'POST /admin/engines/:id/role': admin('Change the role of an engine', { body: 'Object' }),
  'GET /admin/config': admin('What can be changed while the cluster runs'),
  'POST /admin/config': admin('Change it', { body: 'Object' }),
  'GET /ui': page('The live page', { answers: ['html'] }),
  'GET /ui/*': page('The live page and its files', { answers: ['html', 'file'], star: 'file' }),
  'GET /ui/stream': page('Pictures of the cluster as they come', { answers: ['events'] }),
  'GET /ui/options': page('Schemas of what the live page can change'),
  'GET /openapi.json': page('This description'),
  'GET /docs': page('This description, to be read', { answers: ['html'] }),
};
