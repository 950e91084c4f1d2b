import type { ClusterHello, ClusterPicture } from '@baton/contract';

/** A run that the page was saved with. */
export interface SavedRun {
  /** Names every request of the pictures. */
  readonly hello: ClusterHello;
  /** At equal intervals of `hello.intervalMs`, from the end of the first one on. */
  readonly pictures: readonly ClusterPicture[];
}

/** The run in the page; undefined: the page is live. */
export function savedRun(): SavedRun | undefined {
  const text = document.getElementById('recording')?.textContent;
  if (!text) return undefined;
  const [first = '', ...lines] = text.split('\n');
  const pictures = lines.map((line) => JSON.parse(line) as ClusterPicture);
  const names = pictures.flatMap((picture) => picture.names);
  return { hello: { ...(JSON.parse(first) as ClusterHello), names }, pictures };
}
