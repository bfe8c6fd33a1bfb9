import { DEV_GIFTS } from '@svc/api/dev-chains'
import { jsonRpc } from '@svc/sdk/json-rpc'
import { isPrivateHost } from '@svc/sdk/local-services'
import { type Command, InvalidArgumentError } from 'commander'
import { Failure, UsageError } from '../errors.ts'
import { shown } from '../output/shown.ts'
import type { Open, Session } from '../session.ts'
import { readBalances } from './balances.ts'
import { nodeFor } from './wallet.ts'

export function add(program: Command, open: Open): void {
  program
    .command('faucet')
    .description('get coins without value for your wallet, on the local chains of `npm start`')
    .argument('[asset]', 'ticker of the asset; by default the coin for fees, and USDC', (text: string) =>
      text.toUpperCase(),
    )
    .argument('[amount]', 'how much', amount)
    .action(async (asset: string | undefined, wanted: string | undefined, _: object, command: Command) =>
      giveCoins(await open(command), asset, wanted),
    )
}

function amount(text: string): string {
  if (/^\d{1,9}(\.\d{1,18})?$/.test(text)) return text
  if (/^\d{10,}(\.\d+)?$/.test(text)) throw new InvalidArgumentError('It must be 999,999,999 at most.')
  throw new InvalidArgumentError('It must be an amount like 25 or 0.5.')
}

async function giveCoins(session: Session, asset: string | undefined, wanted = '100'): Promise<void> {
  const { output, host, settings, gateway } = session
  const key = await session.keyFor(null)
  const node = nodeFor(key, settings, gateway)
  if (!isPrivateHost(node)) throw new UsageError('real chains have no faucet', 'use the local chains of `npm start`')
  const ask = jsonRpc(node, { signal: host.signal })
  const gifts = asset === undefined ? Object.entries(DEV_GIFTS[key.namespace]) : [[asset, wanted] as const]
  for (const [ticker, sum] of gifts) {
    await ask('dev_faucet', [key.address, ticker, sum]).catch((error: Error) => {
      host.signal.throwIfAborted()
      throw new Failure(
        `${node} gives nothing: ${shown(error.message)}`,
        'check that `npm start` is running, and that this is its chain',
      )
    })
  }
  // A chain needs a moment to confirm the transfer.
  const balances = await readBalances(key, node, host.signal, 'processed')
  output.result({ address: key.address, given: Object.fromEntries(gifts), balances }, () => {
    const amounts = balances.map(({ amount: sum, asset: ticker }) => `${sum} ${ticker}`).join(', ')
    return `${key.address} now has ${amounts}`
  })
}
