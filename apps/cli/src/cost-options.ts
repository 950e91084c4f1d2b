import { type GivenRates, readGpuPrices } from '@baton/costs';
import { type Command, Option } from 'commander';

/** Adds the flags that put cost and energy into a result. */
export function addCostOptions(command: Command): void {
  const flag = (text: string, help: string): void => {
    command.addOption(new Option(text, help).helpGroup('Cost:'));
  };
  flag(
    '--cost',
    'Report GPU-hours, dollars, watts and joules, by the dated tables of docs/fleet.md ' +
      '(default: not reported).',
  );
  flag(
    '--gpu-price <prices>',
    'The same with prices of your own, in dollars per GPU and hour: h100=2.5,a100=1.2, or a YAML ' +
      'file with prices and watts.',
  );
}

/**
 * The prices that are asked for; undefined: no cost is reported.
 *
 * @throws UsageError, one sentence
 */
export function readCostFlags(
  own: Readonly<Record<string, string | boolean>>,
): GivenRates | undefined {
  const prices = own['gpuPrice'];
  if (typeof prices === 'string') return readGpuPrices(prices);
  return own['cost'] === true ? new Map() : undefined;
}
