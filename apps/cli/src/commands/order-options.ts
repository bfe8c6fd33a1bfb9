import { PROVIDERS, type Provider } from '@svc/api/purchases'
import { type Command, InvalidArgumentError, Option } from 'commander'

export interface OrderOptions {
  units: number
  provider?: Provider
  asset?: string
}

/** What both `quote` and `buy` are told of an order. */
export function withOrderOptions(command: Command, asset: Option): Command {
  return command
    .option('-u, --units <number>', 'how many units of storage; `svc quote` tells what they hold', unitCount, 1)
    .addOption(new Option('--provider <name>', 'where the files are kept').choices(PROVIDERS))
    .addOption(asset)
}

export function assetToPayIn(): Option {
  return assetOption('what to pay in: SOL, USDC, MON, …; unless given, the first that the wallet can pay')
}

export function assetOption(about: string): Option {
  return new Option('--asset <ticker>', about).argParser((text) => text.toUpperCase())
}

export function maxOption(): Option {
  const about = 'pay no more than this, in the asset; --yes alone pays whatever is asked'
  return new Option('--max <amount>', about).argParser((text) => {
    if (/^\d{1,30}(\.\d{1,36})?$/.test(text)) return text
    throw new InvalidArgumentError('It must be an amount like 0.5.')
  })
}

function unitCount(text: string): number {
  const units = Number(text)
  if (/^\d+$/.test(text) && units >= 1 && units <= 1_000_000) return units
  throw new InvalidArgumentError('It must be a whole number from 1 to 1000000.')
}
