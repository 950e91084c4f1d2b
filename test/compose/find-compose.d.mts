export function findCompose(
  env: NodeJS.ProcessEnv,
): Promise<{ readonly way: readonly string[]; readonly version: string } | undefined>;
