// The proxies, and their documented start in front of one prefill and one decode engine.

const SERVING = 'examples/disaggregated/disaggregated_serving';
const LOCAL = '127.0.0.1';

/** Files of vLLM's source that run unmodified. */
export const VLLM_FILES = {
  toy: 'tests/v1/kv_connector/nixl_integration/toy_proxy_server.py',
  demo: `${SERVING}/disagg_proxy_demo.py`,
  push: `${SERVING}/disagg_proxy_pushconnector_demo.py`,
  multiTurn: `${SERVING}/disagg_proxy_multiturn.py`,
  mooncake: 'examples/disaggregated/mooncake_connector/mooncake_connector_proxy.py',
};

/**
 * Each as { name, command, flags?, conversationId?, transfers? }. `command` gets { file, bin } of
 * the installation, { port, prefill, decode } as numbers of ports, and { model, engineId }; `flags`
 * are those of the cluster behind it.
 */
export const PROXIES = [
  {
    name: 'vLLM toy proxy',
    command: ({ file, bin, port, prefill, decode }) => [
      ...[bin('python'), file('toy'), '--port', port],
      ...['--prefiller-hosts', LOCAL, '--prefiller-ports', prefill],
      ...['--decoder-hosts', LOCAL, '--decoder-ports', decode],
    ],
  },
  {
    name: 'vLLM demo proxy',
    transfers: false,
    command: ({ file, bin, port, prefill, decode, model }) => [
      ...[bin('python'), file('demo'), '--model', model, '--port', port],
      ...['--prefill', `${LOCAL}:${prefill}`, '--decode', `${LOCAL}:${decode}`],
    ],
  },
  {
    name: 'vLLM push proxy',
    command: ({ file, bin, port, prefill, decode, model, engineId }) => [
      ...[bin('python'), file('push'), '--model', model, '--port', port],
      ...['--prefill', `${LOCAL}:${prefill}`, '--decode', `${LOCAL}:${decode}`],
      ...['--prefill-engine-id', engineId, '--prefill-kv-host', LOCAL],
    ],
  },
  {
    name: 'vLLM multi-turn proxy',
    flags: ['--bidirectional-kv-xfer'],
    conversationId: true,
    command: ({ file, bin, port, prefill, decode }) => [
      ...[bin('python'), file('multiTurn'), '--host', LOCAL, '--port', port],
      ...['--prefiller-host', LOCAL, '--prefiller-port', prefill],
      ...['--decoder-host', LOCAL, '--decoder-port', decode],
    ],
  },
  {
    name: 'vLLM Mooncake proxy',
    command: ({ file, bin, port, prefill, decode }) => [
      ...[bin('python'), file('mooncake'), '--port', port],
      ...['--prefill', `http://${LOCAL}:${prefill}`, prefill],
      ...['--decode', `http://${LOCAL}:${decode}`],
    ],
  },
  ...['nixl', 'mooncake'].map((connector) => ({
    name: `vllm-router, ${connector}`,
    command: ({ bin, port, prefill, decode, freePort }) => [
      ...[bin('vllm-router'), '--vllm-pd-disaggregation', '--kv-connector', connector],
      ...['--host', LOCAL, '--port', port, '--prometheus-port', freePort],
      ...['--prefill', `http://${LOCAL}:${prefill}`, connector === 'mooncake' ? prefill : 'none'],
      ...['--decode', `http://${LOCAL}:${decode}`],
    ],
  })),
  ...[[], ['--mini-lb']].map((how) => ({
    name: `sglang-router${how.length > 0 ? ', mini_lb' : ''}`,
    command: ({ bin, port, prefill, decode, freePort }) => [
      ...[bin('sglang-router'), 'launch', '--pd-disaggregation', ...how],
      ...['--host', LOCAL, '--port', port, '--prometheus-port', freePort],
      ...['--prefill', `http://${LOCAL}:${prefill}`, prefill],
      ...['--decode', `http://${LOCAL}:${decode}`],
    ],
  })),
];
