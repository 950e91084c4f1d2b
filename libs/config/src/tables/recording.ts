import { integer, list, number, optionalText } from '../option';

/**
 * Data that a live cluster keeps or writes to files. Formats: docs/recording.md, docs/timelines.md.
 */
export const RECORDING = {
  record: optionalText({
    help:
      'Write one line per request to this file: lengths, hashes of blocks, engines and times, ' +
      'but no text. `baton replay --trace` replays the file and compares the results.',
    unset: 'nothing is recorded',
  }),
  recordEndpointHeader: list([], {
    help:
      'Header of a mirrored request in which a router names its engine. In --record it ' +
      'replaces the engines and times of this cluster (shadow mode, docs/policies.md). With ' +
      'two headers, the first names the prefill engine and the second the decode engine.',
  }),
  logSteps: optionalText({
    help:
      'Write one line per engine step to this file: its batch and its duration. `baton calibrate ' +
      '--input` fits step times to the file.',
    unset: 'steps are not logged',
  }),
  recordAnswers: optionalText({
    help:
      'Write each request with its whole answer, texts included, to this file; credentials are ' +
      'redacted. `--play` serves the answers again.',
    unset: 'no answer is recorded',
  }),
  play: optionalText({
    help:
      'Answer requests for text from a file of --record-answers, with the same bytes and pauses ' +
      '(speedup times as fast). The cluster computes nothing.',
    unset: 'the cluster answers',
  }),
  logRequests: optionalText({
    help:
      'Append one JSON line per request and event (arrived, refused, scheduled, handed_over, ' +
      'first_token, ended) to this file.',
    unset: 'events are not logged',
  }),
  logFrames: optionalText({
    help: "Log each write to a client's event stream in this file: the exact bytes and the time.",
    unset: 'writes are not logged',
  }),
  otlpTracesEndpoint: optionalText({
    help:
      'Collector for OpenTelemetry traces by OTLP over HTTP: one trace per request, with a ' +
      'span of each process involved. Without a path, /v1/traces is used.',
    alsoEnv: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    unset: 'nothing is traced',
  }),
  timelineMaxEntries: integer(1000, [0, 100_000], {
    help:
      'Number of ended requests whose timelines an API process keeps for GET ' +
      '/v1/requests/{id}/timeline; a request counts once per four of its sequences. 0 keeps none.',
    unit: 'requests',
  }),
  timelineTtl: number(600, [1, 86_400], {
    help: 'How long an API process keeps the timeline of a request that has ended.',
    unit: 's',
  }),
} as const;
