/** Reports progress: tasks done, and tasks in total. */
export type Watch = <T>(
  what: string,
  work: (onProgress: (done: number, whole: number) => void) => Promise<T>,
) => Promise<T>;
