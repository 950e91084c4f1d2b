/** The part after the last slash: `llama-3.1-8b` of `meta-llama/llama-3.1-8b`. */
export function lastSegment(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
