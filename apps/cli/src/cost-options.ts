import { type GivenRates, readGpuPrices } from '@baton/planner';
import { type Command, Option } from 'commander';

/** Adds the flags for cost and energy in a result. */
export function addCostOptions(command: Command): void {
  const flag = (text: string, help: string): void => {
    command.addOption(new Option(text, help).helpGroup('Cost:'));
  };
  flag(
    '--cost',
    'Report GPU-hours, dollars, watts and joules, from the dated tables of docs/planning.md ' +
      '(default: not reported).',
  );
  flag(
    '--gpu-price <prices>',
    'Report cost with your own prices, in dollars per GPU and hour: h100=2.5,a100=1.2, or a YAML ' +
      'file with prices and watts.',
  );
}

/**
 * The prices for a cost report. Undefined: no cost is reported.
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
