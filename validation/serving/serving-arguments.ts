import type { ServingChoice } from './serving';

const FRAMEWORKS = ['vllm', 'sglang', 'trtllm'] as const;

/** `--every=4`, `--framework vllm` and `--group=gb200`, of the command line. */
export function servingArguments(args: readonly string[]): ServingChoice {
  const every = valueOf(args, 'every');
  const name = valueOf(args, 'framework');
  const framework = FRAMEWORKS.find((one) => one === name);
  if (name !== undefined && framework === undefined) {
    throw new Error(`--framework is one of ${FRAMEWORKS.join(', ')}, not ${name}.`);
  }
  const group = valueOf(args, 'group');
  return { every: every === undefined ? undefined : Number(every), framework, group };
}

/** `--name=value` or `--name value`. */
export function valueOf(args: readonly string[], name: string): string | undefined {
  const joined = args.find((each) => each.startsWith(`--${name}=`));
  if (joined !== undefined) return joined.slice(name.length + 3);
  const at = args.indexOf(`--${name}`);
  return at < 0 ? undefined : args[at + 1];
}
