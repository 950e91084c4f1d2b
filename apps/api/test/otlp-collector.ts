import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as a collector gets it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentId: string;
  readonly name: string;
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Protobuf fields of a message by number; nested messages as bytes. */
type Fields = ReadonlyMap<number, readonly (Buffer | bigint)[]>;

/** Receives spans by OTLP over HTTP and keeps them. */
export class OtlpCollector {
  readonly spans: CollectedSpan[] = [];
  readonly paths: string[] = [];

  private constructor(private readonly server: Server) {}

  static async start(): Promise<OtlpCollector> {
    const server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        collector.paths.push(request.url ?? '');
        collector.spans.push(...spansIn(Buffer.concat(parts)));
        response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
      });
    });
    const collector = new OtlpCollector(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }
}

/**
 * opentelemetry/proto/collector/trace/v1: requests hold resources, those hold scopes, those hold
 * spans.
 */
function spansIn(request: Buffer): CollectedSpan[] {
  const scopes = messages(fieldsOf(request), 1).flatMap((resource) => messages(resource, 2));
  return scopes.flatMap((scope) => messages(scope, 2)).map(spanOf);
}

function spanOf(span: Fields): CollectedSpan {
  const attributes = messages(span, 9).map((pair) => {
    const [value = new Map()] = messages(pair, 2);
    return [String(bytes(pair, 1)), valueOf(value)];
  });
  return {
    traceId: bytes(span, 1).toString('hex'),
    spanId: bytes(span, 2).toString('hex'),
    parentId: bytes(span, 4).toString('hex'),
    name: String(bytes(span, 5)),
    startNs: bytes(span, 7).readBigUInt64LE(),
    endNs: bytes(span, 8).readBigUInt64LE(),
    attributes: Object.fromEntries(attributes) as Record<string, unknown>,
  };
}

function valueOf(value: Fields): unknown {
  if (value.has(1)) return String(bytes(value, 1));
  if (value.has(3)) return Number(value.get(3)?.[0]);
  return value.has(4) ? bytes(value, 4).readDoubleLE() : undefined;
}

function messages(fields: Fields, number: number): Fields[] {
  return (fields.get(number) ?? []).map((field) => fieldsOf(field as Buffer));
}

function bytes(fields: Fields, number: number): Buffer {
  return (fields.get(number)?.[0] as Buffer | undefined) ?? Buffer.alloc(0);
}

/**
 * https://protobuf.dev/programming-guides/encoding: a tag, then a varint, eight bytes, a length
 * with bytes, or four bytes.
 */
function fieldsOf(message: Buffer): Fields {
  const fields = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(message[at++] ?? 0);
      value |= (byte & 127n) << shift;
      if (byte < 128n) return value;
    }
  };
  const cut = (length: number): Buffer => message.subarray(at, (at += length));
  while (at < message.length) {
    const tag = Number(varint());
    const wire = tag & 7;
    const value = wire === 0 ? varint() : cut(wire === 1 ? 8 : wire === 5 ? 4 : Number(varint()));
    const known = fields.get(tag >> 3) ?? [];
    fields.set(tag >> 3, [...known, value]);
  }
  return fields;
}
