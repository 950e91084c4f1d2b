import { integer, number, optionalText } from '../option';

/** What a live cluster remembers, and leaves behind in files. Formats: docs/recording.md, docs/timelines.md. */
export const RECORDING = {
  record: optionalText({
    help: 'Write one line per request into this file: lengths, hashes of blocks, engines and times, never a text. `baton replay --trace` replays it and compares.',
    unset: 'nothing is recorded',
  }),
  logSteps: optionalText({
    help: 'Write one line per engine step into this file: its batch and how long it took. `baton calibrate --input` fits step times to it.',
    unset: 'steps are not logged',
  }),
  otlpTracesEndpoint: optionalText({
    help: 'Collector for OpenTelemetry traces by OTLP over HTTP: one trace per request, with a span of each process that has a part in it. Without a path /v1/traces is meant.',
    alsoEnv: ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    unset: 'nothing is traced',
  }),
  timelineMaxEntries: integer(1000, [0, 100_000], {
    help: 'Requests that have ended whose timelines an API process keeps for GET /v1/requests/{id}/timeline; 0 keeps none, and engines tell none.',
    unit: 'requests',
  }),
  timelineTtl: number(600, [1, 86_400], {
    help: 'How long it keeps them.',
    unit: 's',
  }),
} as const;
