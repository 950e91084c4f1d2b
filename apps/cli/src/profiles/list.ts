import { UsageError } from '@baton/config';
import { GPUS } from '@baton/hardware';
import { consoleTable } from '@baton/report';
import { shippedProfiles } from '@baton/step-time';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errorText, readProfile, sourceText, shownValue } from './own-profile';

interface Row {
  readonly gpu: string;
  readonly model: string;
  readonly tp: string;
  readonly method: string;
  readonly mean_error: string;
  readonly source: string;
}

/**
 * Your own profiles, the shipped ones, and the composable deployments, as a table or a JSON
 * document.
 */
export function listText(places: readonly string[], isJson: boolean): string {
  const rows = [...places.flatMap(filesIn).map(ownRow), ...shippedRows(), ...composedRows()];
  if (isJson) return `${JSON.stringify(rows, null, 2)}\n`;
  const columns = ['gpu', 'model', 'tp', 'method', 'mean_error', 'source'] as const;
  return consoleTable(
    columns.map((name) => ({ name: name.replace('_', ' ') })),
    rows.map((row) => columns.map((name) => row[name])),
  );
}

function ownRow(path: string): Row {
  const profile = readProfile(path);
  return {
    gpu: shownValue(profile, 'gpu'),
    model: shownValue(profile, 'model'),
    tp: shownValue(profile, 'tensor_parallel_size'),
    method: profile.kind,
    mean_error: errorText(profile.content['error_percent']),
    source: `${path}: ${sourceText(profile)}`,
  };
}

function shippedRows(): Row[] {
  return shippedProfiles().map(({ gpu, model, tp, decodeErrorPercent, prefillErrorPercent }) => {
    const errors = { decode: decodeErrorPercent, prefill: prefillErrorPercent };
    const source = 'shipped, data/profiles';
    return {
      gpu,
      model,
      tp: String(tp),
      method: 'calibrated',
      mean_error: errorText(errors),
      source,
    };
  });
}

function composedRows(): Row[] {
  return Object.values(GPUS).flatMap(({ name, operators }) => {
    if (operators === undefined) return [];
    const source = `measured operators, data/operators/${operators}`;
    const model = 'where they cover it';
    return [{ gpu: name, model, tp: 'any', method: 'composed', mean_error: '–', source }];
  });
}

/** A file, or the profiles in a folder. */
function filesIn(place: string): string[] {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) {
    throw new UsageError(
      `There is no file or folder ${place}. Without a path, \`baton profiles list\` lists the ` +
        'shipped profiles of all GPUs.',
    );
  }
  if (!found.isDirectory()) return [place];
  return readdirSync(place)
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .map((name) => join(place, name))
    .sort()
    .filter(isProfile);
}

/** Whether a file is a profile; a folder may contain other files. */
function isProfile(path: string): boolean {
  try {
    readProfile(path);
    return true;
  } catch {
    return false;
  }
}
