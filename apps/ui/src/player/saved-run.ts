import type { ClusterHello, ClusterPicture } from '@baton/contract';

/** A recorded run that is part of the page's file. */
export interface SavedRun {
  /** Has the names of all requests in the pictures. */
  readonly hello: ClusterHello;
  /** At equal intervals of `hello.intervalMs`, starting at the end of the first one. */
  readonly pictures: readonly ClusterPicture[];
}

/** The recorded run of the page. Undefined: the page is live. */
export function savedRun(): SavedRun | undefined {
  const text = document.getElementById('recording')?.textContent;
  if (!text) return undefined;
  const [first = '', ...lines] = text.split('\n');
  const pictures = lines.map((line) => JSON.parse(line) as ClusterPicture);
  const names = pictures.flatMap((picture) => picture.names);
  return { hello: { ...(JSON.parse(first) as ClusterHello), names }, pictures };
}
