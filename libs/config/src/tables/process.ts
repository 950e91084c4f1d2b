import { choice, integer, list, number, optionalInteger, optionalText, text } from '../option';

export const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

const METRICS_FLAVOURS = ['vllm', 'sglang', 'trtllm'] as const;

/** Logs, and hooks by which tests inject faults. */
export const PROCESS = {
  logLevel: choice(LOG_LEVELS, 'info', {
    help: 'Minimum level of log lines on stderr.',
  }),
  logLevels: list([], {
    help:
      'Level of one module of a process, as module=level (recovery=debug, engine=trace). Log ' +
      'lines name their module. May be repeated.',
    pattern: new RegExp(`^[a-z][a-z-]*=(${LOG_LEVELS.join('|')})$`),
    like: 'recovery=debug',
  }),
  /** Address of a worker process's own /health and /metrics. */
  workerHost: text('127.0.0.1', {
    help: 'Address of /health, /health/ready and /metrics of a worker process.',
  }),
  workerPort: integer(0, [0, 65535], {
    help:
      'Port of /health, /health/ready and /metrics of a worker process. With 0 the process ' +
      'takes a free port, which its log names.',
  }),
  metricsFlavour: choice(METRICS_FLAVOURS, 'vllm', {
    help:
      "Further names of the engine load on /metrics, beside vLLM's: those that routers of the " +
      'Gateway API inference extension read from SGLang or from TensorRT-LLM.',
  }),
  grpcHealthPort: optionalInteger([1, 65535], {
    help:
      "Port on which the API answers gRPC's health protocol (grpc.health.v1) without TLS, for " +
      'probes of Kubernetes and for gateways.',
    unset: 'health is answered only over HTTP',
  }),
  /** Name of a step of a request after which the process ends itself with SIGKILL. */
  crashAfter: optionalText({
    help:
      'End the process hard after this step: taken, held, handed-over, decode-begun, ' +
      'read-answered, ended, finished.',
    hidden: true,
    unset: 'never',
  }),
  /** Chance that an API process ignores a token frame. */
  dropFrames: number(0, [0, 1], {
    help: 'Share of token frames that an API process loses.',
    hidden: true,
  }),
  repeatFrames: number(0, [0, 1], {
    help: 'Share of token frames that an API process sees twice.',
    hidden: true,
  }),
  reorderFrames: number(0, [0, 1], {
    help: 'Share of token frames that an API process sees after the next one.',
    hidden: true,
  }),
  loseAborts: number(0, [0, 1], {
    help: 'Share of abort messages that are stored but not sent.',
    hidden: true,
  }),
  /** Chance that a KV read is answered `expired`. */
  failReads: number(0, [0, 1], {
    help: 'Share of KV reads that the holder answers as expired.',
    hidden: true,
  }),
} as const;
