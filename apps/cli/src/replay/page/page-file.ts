import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunRecord } from '@baton/analysis';
import { optionalFolder } from '@baton/config';
import type { ClusterHello } from '@baton/contract';
import { Failure, usToMs, VERSION } from '@baton/kernel';
import { requestIdOf, type Workload } from '@baton/workload';
import { pictureIntervalUs, runPictures } from './run-pictures';

const BUILT = join('dist', 'apps', 'ui');

/** A run and the facts about it on its page. */
export interface PageParts {
  readonly run: RunRecord;
  readonly workload: Workload;
  readonly model: string;
  readonly topology: string;
}

/**
 * The live page with the pictures of a run, as one file.
 *
 * @throws Failure when the page has not been built
 */
export function* pageFile({ run, workload, model, topology }: PageParts): Generator<string> {
  const [head, tail] = builtPage().split('<body>') as [string, string];
  const hello: ClusterHello = {
    api: '',
    version: VERSION,
    model,
    topology,
    speedup: 1,
    hasSettings: false,
    names: [],
    intervalMs: usToMs(pictureIntervalUs(run.endUs)),
  };
  yield `${head}<body><script type="application/x-ndjson" id="recording">`;
  yield lineOf(hello);
  for (const picture of runPictures(run, (row) => requestIdOf(workload, row))) {
    yield `\n${lineOf(picture)}`;
  }
  yield `</script>${tail}`;
}

/** JSON for a script element. No part of it can end the element. */
function lineOf(document: unknown): string {
  return JSON.stringify(document).replaceAll('<', '\\u003c');
}

/** The page with its script and its styles inside. */
function builtPage(): string {
  const folder = optionalFolder(BUILT);
  if (folder === undefined) {
    throw new Failure(`The live page is not built (${BUILT}). Run npm run build.`);
  }
  const assets = join(folder, 'assets');
  const read = (ending: string): string => {
    const name = readdirSync(assets).find((each) => each.endsWith(ending));
    return name === undefined ? '' : readFileSync(join(assets, name), 'utf8');
  };
  const script = read('.js').replaceAll('</script', '<\\/script');
  return readFileSync(join(folder, 'index.html'), 'utf8')
    .replace(/<link rel="icon"[^>]*>/, '')
    .replace(/<link rel="stylesheet"[^>]*>/, () => `<style>${read('.css')}</style>`)
    .replace(/<script [^>]*><\/script>/, () => `<script type="module">${script}</script>`);
}
