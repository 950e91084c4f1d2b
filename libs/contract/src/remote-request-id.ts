/**
 * vLLM appends eight random hex digits to a request id; Baton's are the generation of the holding,
 * so that a stale reference to reused blocks is detected.
 */
export function remoteRequestId(requestId: string, generation: number): string {
  return `${requestId}-${generation.toString(16).padStart(8, '0')}`;
}

/**
 * The request and generation that a remote request id names; undefined when it does not have
 * Baton's form.
 */
export function parseRemoteRequestId(
  id: string,
): { readonly requestId: string; readonly generation: number } | undefined {
  const match = /^(.+)-([0-9a-f]{8,13})$/.exec(id);
  if (match?.[1] === undefined || match[2] === undefined) return undefined;
  return { requestId: match[1], generation: Number.parseInt(match[2], 16) };
}
