import type { ServiceDefinition } from '@grpc/grpc-js';

/** `ServingStatus` of grpc/health/v1/health.proto, each at its number. */
const STATUSES = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'] as const;

export type HealthStatus = (typeof STATUSES)[number];

export interface HealthRequest {
  readonly service: string;
}

/** Paths and messages of grpc/health/v1/health.proto; gRPC answers `List` with UNIMPLEMENTED. */
export const HEALTH_SERVICE = {
  Check: method('Check', false),
  Watch: method('Watch', true),
} satisfies ServiceDefinition;

function method(name: string, responseStream: boolean) {
  return {
    path: `/grpc.health.v1.Health/${name}`,
    requestStream: false,
    responseStream,
    requestSerialize: ({ service }: HealthRequest) => {
      const bytes = Buffer.from(service);
      return Buffer.concat([Buffer.from([SERVICE_FIELD, bytes.length]), bytes]);
    },
    requestDeserialize: (message: Buffer): HealthRequest => ({ service: serviceOf(message) }),
    responseSerialize: (status: HealthStatus) =>
      Buffer.from([STATUS_FIELD, STATUSES.indexOf(status)]),
    responseDeserialize: (bytes: Buffer) => STATUSES[bytes[1] ?? 0] ?? 'UNKNOWN',
  } as const;
}

/** Field 1 of both messages: a text in the request, a number in the answer. */
const SERVICE_FIELD = 0x0a;
const STATUS_FIELD = 0x08;

/** `HealthCheckRequest.service`; '' when it is left out. Names of services are short. */
function serviceOf(message: Buffer): string {
  if (message.length === 0) return '';
  const [field, length = 0] = message;
  const isKnown = field === SERVICE_FIELD && length < 0x80 && message.length === length + 2;
  return isKnown ? message.toString('utf8', 2) : 'not a service';
}
