import { VERSION } from '@baton/kernel';
import { basename } from 'node:path';
import { Document, isScalar, visit } from 'yaml';
import { CLIENT_FORMATS } from '../formats/formats';
import { qualityEntry, type Result } from '../profiling/report';

const HEADING = ` Step times fitted by \`baton calibrate\`.
 Use: baton up --step-time-file FILE; replay and plan take it too.`;
/** More digits than any measurement has. */
const DIGITS = 9;

/** Provenance of a profile that may be shared: its files and the date of the newest. */
function provenanceOf({ inputs: paths, options }: Result['request'], inputs: Result['inputs']) {
  const hasFiles = inputs.every(({ file }) => file !== undefined);
  if (options.fit === 'polynomial' || !hasFiles) return {};
  const files = inputs.map(({ format, steps, file }, i) => ({
    file: basename(paths[i]!),
    format,
    points: steps.length,
    sha256: file?.sha256,
  }));
  const date = inputs
    .map(({ file }) => file?.date ?? '')
    .sort()
    .at(-1);
  return { provenance: { date, baton: VERSION, files } };
}

/**
 * The front end of the measured server, for runs with this profile: its time outside of the steps,
 * or that prompts include it.
 */
function frontEndOf({ inputs, requestMs }: Result) {
  if (requestMs !== undefined) return { front_end: { request_ms: requestMs } };
  const isIn = inputs.some(({ format, steps }) => {
    return CLIENT_FORMATS.includes(format) && steps.some(({ prefillSeqs }) => prefillSeqs > 0);
  });
  return isIn ? { front_end: 'included' } : {};
}

/** The profile as a YAML file. It names its inputs but no time of the fit. */
export function profileYaml(result: Result): string {
  const { request, inputs, calibration, transfer } = result;
  const { file, fitted, heldOut } = calibration;
  const isPolynomial = request.options.fit === 'polynomial';
  const document = new Document({
    ...file,
    ...(isPolynomial && transfer ? { kv_transfer: transfer.file } : {}),
    source: inputs.map((input, i) => `${basename(request.inputs[i]!)} (${input.format})`),
    ...provenanceOf(request, inputs),
    ...frontEndOf(result),
    fit: {
      fitted: fitted.map(qualityEntry),
      ...(heldOut.length > 0 ? { held_out: heldOut.map(qualityEntry) } : {}),
    },
  });
  document.commentBefore = HEADING;
  visit(document, {
    Scalar: (_key, node) => {
      const { value } = node;
      if (typeof value !== 'number' || Number.isInteger(value)) return;
      node.value = Number(value.toPrecision(DIGITS));
    },
    Seq: (_key, node) => {
      node.flow = node.items.every((item) => isScalar(item) && typeof item.value === 'number');
    },
  });
  return document.toString({ flowCollectionPadding: false });
}
