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
    .description('coins without value for your wallet, on the local chains of `npm start`')
    .argument('[asset]', 'which one; unless given, the coin for fees and USDC', (text: string) => text.toUpperCase())
    .argument('[amount]', 'how much of it', amount)
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
  if (!isPrivateHost(node))
    throw new UsageError('there is no faucet for real money', 'it works with the chains of `npm start`')
  const ask = jsonRpc(node, { signal: host.signal })
  const gifts = asset === undefined ? Object.entries(DEV_GIFTS[key.namespace]) : [[asset, wanted] as const]
  for (const [ticker, much] of gifts) {
    await ask('dev_faucet', [key.address, ticker, much]).catch((error: Error) => {
      host.signal.throwIfAborted()
      throw new Failure(
        `${node} gives nothing: ${shown(error.message)}`,
        'is `npm start` running, and is this its chain?',
      )
    })
  }
  // A chain takes a moment to confirm what it has just given.
  const balances = await readBalances(key, node, host.signal, 'processed')
  output.result({ address: key.address, given: Object.fromEntries(gifts), balances }, () => {
    const held = balances.map(({ amount: much, asset: ticker }) => `${much} ${ticker}`).join(', ')
    return `${key.address} now holds ${held}`
  })
}
