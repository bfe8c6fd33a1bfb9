import type { Price, Quote } from '@svc/api/purchases'
import { amountText } from '@svc/sdk/money'
import type { Command } from 'commander'
import { Failure } from '../errors.ts'
import { collect, leftOutText, secretsAt } from '../files/collect.ts'
import { excludeOptions, includeOption, type PatternOptions } from '../files/patterns.ts'
import { assetOption, followOption, MAX_UNITS, type OrderOptions, withOrderOptions } from '../options.ts'
import { networkText } from '../output/networks.ts'
import { bytesText, counted } from '../output/quantities.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import { termsText } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'
import { keyFiles } from '../setup/wallet.ts'

interface QuoteOptions extends OrderOptions, PatternOptions {
  follow?: boolean
}

export function add(program: Command, open: Open): void {
  const asking = program
    .command('quote')
    .description('the price of storage in every asset; buys nothing')
    .argument('[path...]', 'files and folders that it must hold, counted as `svc put` would upload them')
    .addOption(followOption())
  for (const option of [includeOption(), ...excludeOptions()]) asking.addOption(option)
  withOrderOptions(asking, assetOption('only in this asset: SOL, USDC, MON, …')).action(
    async (paths: string[], options: QuoteOptions, command: Command) => quote(await open(command), paths, options),
  )
}

async function quote(session: Session, paths: readonly string[], options: QuoteOptions): Promise<void> {
  const { output, host } = session
  const { provider, asset } = options
  const client = await session.client()
  const estimate = paths.length > 0 ? await estimateFor(session, paths, options) : null
  const units = Math.max(options.units, estimate?.units ?? 1)
  const order = { units, ...(provider && { provider }), ...(asset && { pay_asset: asset }) }
  const answer = await client.quote(order, { signal: host.signal })
  output.result({ ...answer, ...(estimate && { estimate }) }, () =>
    [...(estimate ? [estimateText(estimate, paths)] : []), quoteText(answer)].join('\n'),
  )
  output.note(`\n\`svc buy${units > 1 ? ` --units ${units}` : ''} --asset …\` buys it.`)
}

interface Estimate {
  files: number
  size_bytes: number
  /** The smallest number of units that holds the files. */
  units: number
  /** Whether the bytes or the number of files determine it. */
  limited_by: 'bytes' | 'files'
}

async function estimateFor(session: Session, paths: readonly string[], options: QuoteOptions): Promise<Estimate> {
  const { output, host, settings } = session
  const { provider } = options
  const isSecret = await secretsAt(keyFiles(host.env, settings.wallet))
  const { files, ...others } = await collect(paths, { ...options, isSecret })
  for (const line of leftOutText(others)) output.note(line)
  const size_bytes = files.reduce((sum, { size }) => sum + size, 0)
  const query = { units: 1, ...(provider && { provider }) }
  const price = await (await session.client()).price({ query, signal: host.signal })
  return { files: files.length, size_bytes, ...unitsFor(price, files.length, size_bytes) }
}

/** The prices list the terms of one unit. */
function unitsFor(
  { provider, providers }: Price,
  files: number,
  bytes: number,
): Pick<Estimate, 'units' | 'limited_by'> {
  const terms = providers[provider]?.terms
  if (!terms)
    throw new Failure(`${provider} does not answer`, 'name another provider with --provider, or try again later')
  const byBytes = Math.ceil(bytes / terms.storage_limit_bytes)
  const byFiles = Math.ceil(files / terms.file_limit)
  const units = Math.max(1, byBytes, byFiles)
  if (units > MAX_UNITS)
    throw new Failure(`this needs ${counted(units, 'unit')}, but one purchase can have at most ${MAX_UNITS}`)
  return { units, limited_by: byFiles > byBytes ? 'files' : 'bytes' }
}

function estimateText({ files, size_bytes, units, limited_by }: Estimate, paths: readonly string[]): string {
  const what = `${counted(files, 'file')}, ${bytesText(size_bytes)} in ${paths.join(', ')}`
  const because = units > 1 ? `, limited by the ${limited_by}` : ''
  return shown(`${what}: ${counted(units, 'unit')}${because}`)
}

function quoteText({ accepts, extensions }: Quote): string {
  const { terms, price_summary } = extensions.svc
  const { total_usd, provider } = price_summary
  const isLocal = terms.environment === 'development'
  const warning = isLocal ? '\nA development gateway: do not send real money.' : ''
  const what = `${price_summary.units} × ${provider}: ${termsText(terms)}`
  const rows = accepts.map(({ amount, network, payTo, extra }) => [
    shown(amountText(BigInt(amount), extra.decimals)),
    shown(extra.name),
    networkText(network, { isLocal }),
    shown(payTo),
  ])
  const columns = [{ title: 'AMOUNT', isRight: true }, { title: 'ASSET' }, { title: 'NETWORK' }, { title: 'PAY TO' }]
  const price = `for ${total_usd} USD, until ${terms.quote_expires_at}`
  return `${shown(`${what} ${price}`)}${warning}\n\n${table(columns, rows)}`
}
