import type { Quote } from '@svc/api/purchases'
import { amountText } from '@svc/sdk/money'
import type { Command } from 'commander'
import { assetOption, type OrderOptions, withOrderOptions } from '../options.ts'
import { shown } from '../output/shown.ts'
import { table } from '../output/table.ts'
import { termsText } from '../output/texts.ts'
import type { Open, Session } from '../session.ts'

export function add(program: Command, open: Open): void {
  const asking = program.command('quote').description('what storage costs, in every asset; binds to nothing')
  withOrderOptions(asking, assetOption('only in this one: SOL, USDC, MON, …')).action(
    async (options: OrderOptions, command: Command) => quote(await open(command), options),
  )
}

async function quote(session: Session, { units, provider, asset }: OrderOptions): Promise<void> {
  const { output, world } = session
  const client = await session.client()
  const order = { units, ...(provider && { provider }), ...(asset && { pay_asset: asset }) }
  const answer = await client.quote(order, { signal: world.signal })
  output.result(answer, () => quoteText(answer))
  output.note('\n`svc buy --asset …` buys it.')
}

function quoteText({ accepts, extensions }: Quote): string {
  const { terms, price_summary } = extensions.svc
  const { total_usd, provider } = price_summary
  const warning = terms.environment === 'development' ? '\nA development gateway: do not send real money.' : ''
  const what = `${price_summary.units} × ${provider}: ${termsText(terms)}`
  const rows = accepts.map(({ amount, network, payTo, extra }) => [
    shown(amountText(BigInt(amount), extra.decimals)),
    shown(extra.name),
    shown(network),
    shown(payTo),
  ])
  const columns = [{ title: 'AMOUNT', isRight: true }, { title: 'ASSET' }, { title: 'NETWORK' }, { title: 'PAY TO' }]
  const price = `for ${total_usd} USD, until ${terms.quote_expires_at}`
  return `${shown(`${what} ${price}`)}${warning}\n\n${table(columns, rows)}`
}
