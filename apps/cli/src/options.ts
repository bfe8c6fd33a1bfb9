import { PROVIDERS, type Provider } from '@svc/api/providers'
import { fromBase58 } from '@svc/protocol/bytes'
import { ed25519PublicKeyFromBase58 } from '@svc/protocol/keys'
import { Argument, type Command, InvalidArgumentError, Option } from 'commander'

export interface OrderOptions {
  units: number
  provider?: Provider
  asset?: string
}

/** The options of an order, for `quote` and `buy`. */
export function withOrderOptions(command: Command, asset: Option): Command {
  return command
    .addOption(unitsOption('how many units of storage; `svc quote` shows their terms').default(1))
    .addOption(new Option('--provider <name>', 'where the files are stored').choices(PROVIDERS))
    .addOption(asset)
}

export function unitsOption(about: string): Option {
  return new Option('-u, --units <number>', about).argParser(unitCount)
}

export function assetToPayIn(): Option {
  return assetOption('asset to pay in: SOL, USDC, MON, …; by default the first that the wallet can pay')
}

export function assetOption(about: string): Option {
  return new Option('--asset <ticker>', about).argParser((text) => text.toUpperCase())
}

export function maxOption(): Option {
  const about = 'the highest price to pay, in the asset; --yes alone accepts any price'
  return new Option('--max <amount>', about).argParser((text) => {
    if (/^\d{1,30}(\.\d{1,36})?$/.test(text)) return text
    throw new InvalidArgumentError('It must be an amount like 0.5.')
  })
}

export const MAX_UNITS = 1_000_000

function unitCount(text: string): number {
  const units = Number(text)
  if (/^\d+$/.test(text) && units >= 1 && units <= MAX_UNITS) return units
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MAX_UNITS}.`)
}

/** An option that may be repeated or take a comma-separated list. Unlike a variadic option it consumes no arguments. */
export function listOption(flags: string, description: string): Option {
  return new Option(flags, description).argParser((text, before: string[] | undefined) => [
    ...(before ?? []),
    ...text.split(',').filter((word) => word !== ''),
  ])
}

export function followOption(): Option {
  return new Option('--follow', 'follow symbolic links')
}

/** An option that may be repeated. Its values may have commas: names, paths and patterns. */
export function repeatedOption(flags: string, description: string): Option {
  return new Option(flags, `${description}; may be repeated`).argParser((text, before: string[] | undefined) => [
    ...(before ?? []),
    text,
  ])
}

export function tagOption(): Option {
  return listOption('--tag <tag>', 'tag that helps to find the locker; may be repeated')
}

/** The key is checked before anything is paid. */
export function operatorOption(): Option {
  const about = 'Ed25519 key (base58) that may read, write and list from the start'
  return new Option('--operator <key>', about).argParser(operatorKey)
}

/** Parses a public key; the error names another kind of key where it is recognized. */
export function operatorKey(text: string): string {
  if (ed25519PublicKeyFromBase58(text)) return text
  if (/^0x[0-9a-f]{40}$/i.test(text))
    throw new InvalidArgumentError(
      'It is an EVM address. Operators have an Ed25519 public key: `svc wallet new` makes one.',
    )
  if (fromBase58(text, 64))
    throw new InvalidArgumentError('It is a private key: never share it. `svc whoami` shows the public key.')
  throw new InvalidArgumentError('It must be an Ed25519 public key in base58; the operator gets it with `svc whoami`.')
}

/** An alternative to `--locker`. */
export function lockerArgument(): Argument {
  return new Argument('[locker]', 'its name, receipt or id; not needed if you have only one')
}

export interface StatementOptions {
  statement?: number
}

export function statementOption(): Option {
  return new Option('--statement <number>', 'number of the statement; by default the newest').argParser((text) => {
    const number = Number(text)
    if (/^\d+$/.test(text) && number < 2 ** 32) return number
    throw new InvalidArgumentError('It must be a whole number.')
  })
}

/** The statement number as the client expects it. */
export function sequenceOf({ statement }: StatementOptions): { sequence?: number } {
  return statement === undefined ? {} : { sequence: statement }
}
