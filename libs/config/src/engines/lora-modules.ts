import { type BatonConfig } from '../config';
import { UsageError } from '../usage-error';
import { servedNamesOf } from './served-names';

/** A LoRA adapter: another name of the model for clients, with prefixes of its own. */
export interface Adapter {
  readonly name: string;
  /** Path of its weights. It is shown as the card's `root` and never opened. */
  readonly path: string;
}

const NAME = /^[^\s\u0000-\u001f]{1,256}$/;
const MAX_PATH_LENGTH = 4_096;

/** The adapters of the configuration. @throws UsageError for a malformed or repeated one */
export function loraModulesOf(
  config: Pick<BatonConfig, 'loraModules' | 'servedModelName' | 'model'>,
): Adapter[] {
  const adapters = config.loraModules.map(parse);
  const names = [...servedNamesOf(config), ...adapters.map(({ name }) => name)];
  const twice = names.find((name, i) => names.indexOf(name) !== i);
  if (twice !== undefined)
    throw new UsageError(`lora_modules: two models are called \`${twice}\`.`);
  return adapters;
}

/** Most adapters of one batch. Undefined: the engines serve none. */
export function mostAdapters(config: BatonConfig): number | undefined {
  const { enableLora, maxLoras, allowRuntimeLoraUpdating: mayLoad } = config;
  return enableLora || mayLoad || loraModulesOf(config).length > 0 ? maxLoras : undefined;
}

export function isAdapter({ name, path }: Partial<Record<keyof Adapter, unknown>>): boolean {
  if (typeof name !== 'string' || typeof path !== 'string') return false;
  return NAME.test(name) && path !== '' && path.length <= MAX_PATH_LENGTH;
}

/** `name=path`, or vLLM's JSON `{"name", "path"}`. */
function parse(written: string): Adapter {
  const adapter = written.startsWith('{') ? ofJson(written) : ofPair(written);
  if (adapter !== undefined && isAdapter(adapter)) return adapter;
  throw new UsageError(
    `lora_modules: \`${written}\` is neither name=path nor {"name": "…", "path": "…"}.`,
  );
}

function ofPair(written: string): Adapter | undefined {
  const at = written.indexOf('=');
  return at < 0 ? undefined : { name: written.slice(0, at), path: written.slice(at + 1) };
}

function ofJson(written: string): Adapter | undefined {
  try {
    const { name, path } = JSON.parse(written) as Adapter;
    return { name, path };
  } catch {
    return undefined;
  }
}
