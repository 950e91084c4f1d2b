import { Pattern } from '../regex/pattern';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const DATE = '(?:19|20)\\d\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d';
const ZONE = '(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d)';
const HOST = '[a-z]{2,12}\\.(?:com|org|net)';
const PATH = '(?:/[a-z0-9]{1,9}){0,3}';

/** A format: a way to write texts, and a test. Every written text passes the test. */
interface Format {
  readonly write: string;
  readonly accept?: string;
}

/**
 * Formats of JSON Schema 2020-12 and OpenAPI's formats of strings. Other formats are annotations.
 */
const FORMATS: Readonly<Record<string, Format>> = {
  date: { write: DATE, accept: '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])' },
  time: {
    write: `${TIME}Z`,
    accept:
      '(?:[01]\\d|2[0-3]):[0-5]\\d:(?:[0-5]\\d|60)(?:\\.\\d+)?' +
      '(?:[zZ]|[+-][0-2]\\d(?::?[0-5]\\d)?)',
  },
  'date-time': {
    write: `${DATE}T${TIME}Z`,
    accept:
      '\\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\\d|3[01])[tT ' +
      `]${TIME}(?:\\.\\d+)?(?:[zZ]|${ZONE})`,
  },
  duration: {
    write: 'P(?:[1-9]\\d?D|[1-9]W|T[1-9]\\d?H|T[1-9]\\d?M|[1-9]DT[1-9]H)',
    accept: 'P[0-9YMWDTHS.,]+',
  },
  email: { write: `[a-z]{1,10}@${HOST}`, accept: '[^\\s@]+@[^\\s@]+' },
  hostname: { write: HOST, accept: `(?:${LABEL}\\.)*${LABEL}\\.?` },
  ipv4: { write: IPV4 },
  ipv6: {
    write: '(?:[1-9a-f][0-9a-f]{0,3}:){7}[1-9a-f][0-9a-f]{0,3}|::1|[1-9a-f][0-9a-f]{1,3}::1',
    accept: `[0-9a-fA-F:]+(?::${IPV4})?`,
  },
  uri: { write: `https://${HOST}${PATH}`, accept: '[a-zA-Z][a-zA-Z0-9+.-]*:[^\\s<>"{}|\\\\^`]*' },
  'uri-reference': {
    write: `/[a-z0-9]{1,9}${PATH}`,
    accept: '[^\\s<>"{}|\\\\^`]*',
  },
  'uri-template': { write: `https://${HOST}/[a-z]{1,9}/\\{[a-z]{1,6}\\}`, accept: '[^\\s]*' },
  uuid: {
    write: '[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}',
    accept: '(?:urn:uuid:)?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}',
  },
  'json-pointer': { write: '(?:/[a-z]{1,9}){1,3}', accept: '(?:/(?:[^~/]|~[01])*)*' },
  'relative-json-pointer': {
    write: '[0-9]/[a-z]{1,9}',
    accept: '(?:0|[1-9]\\d*)(?:#|(?:/(?:[^~/]|~[01])*)*)',
  },
  regex: { write: '\\^\\[a-z\\]\\{[1-9]\\}\\$', accept: '[^]*' },
  byte: {
    write: '(?:[A-Za-z0-9+/]{4}){1,6}',
    accept: '(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?',
  },
};

const ALIASES: Readonly<Record<string, string>> = {
  'idn-email': 'email',
  'idn-hostname': 'hostname',
  iri: 'uri',
  url: 'uri',
  'iri-reference': 'uri-reference',
  'iso-time': 'time',
  'iso-date-time': 'date-time',
};

const patterns = new Map<string, Pattern>();

/** The pattern from which texts of a format are written. Undefined: the format has no condition. */
export function formatWriter(format: string | undefined): Pattern | undefined {
  const found = formatOf(format);
  return found === undefined ? undefined : patternOf(found.write);
}

/**
 * Whether a text has a format. The test is coarse: it accepts at least every text that other
 * validators accept.
 */
export function isOfFormat(format: string | undefined, text: string): boolean {
  const found = formatOf(format);
  return found === undefined || patternOf(found.accept ?? found.write).matches(text, 'whole');
}

function formatOf(format: string | undefined): Format | undefined {
  if (format === undefined) return undefined;
  const name = Object.hasOwn(ALIASES, format) ? ALIASES[format]! : format;
  return Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
}

function patternOf(source: string): Pattern {
  let pattern = patterns.get(source);
  if (pattern === undefined) patterns.set(source, (pattern = new Pattern(source)));
  return pattern;
}
