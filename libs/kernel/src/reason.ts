/**
 * The reason of a failure, in a few words. A failed system call gives
 * `ENOENT: no such file or directory`, without the call and the path that Node adds. A folder in
 * place of a file gives `it is a folder`. An error of the YAML parser loses its quotation of the
 * file.
 */
export function reasonOf(error: unknown): string {
  if (isSystemError(error) && error.code === 'EISDIR') return 'it is a folder';
  const message = error instanceof Error ? error.message : String(error);
  return isSystemError(error)
    ? message.replace(/, \w+( '.*)?$/s, '')
    : message.replace(/:\n\n.*$/s, '');
}

/** Whether an error comes from a system call. */
export function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error;
}
