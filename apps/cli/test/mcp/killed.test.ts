// Kills the server at every state of a purchase and starts it again: the same call resumes the purchase.

import { inParallel } from '@svc/concurrency/parallel'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it } from 'vitest'
import { startStdio } from './client.ts'
import { openShop } from './shop.ts'

const shop = forAllTests(() => openShop())

interface Ending {
  when: string
  /** The request at which the server is killed. `count` selects a matching request, and `stall` decides whether it still arrives. */
  request: RegExp
  count?: number
  stall: 'request' | 'answer'
}

const ENDINGS: readonly Ending[] = [
  { when: 'nothing has happened', request: /storage\/request/, stall: 'request' },
  { when: 'the quote has arrived', request: /storage\/confirm/, stall: 'request' },
  { when: 'the payment is counted', request: /getLatestBlockhash/, stall: 'request' },
  { when: 'the payment is signed and recorded', request: /getEpochInfo/, stall: 'request' },
  { when: 'the payment is sent', request: /sendTransaction/, stall: 'answer' },
  { when: 'the payment has landed', request: /storage\/confirm/, count: 2, stall: 'request' },
  { when: 'the receipt is issued', request: /storage\/confirm/, count: 2, stall: 'answer' },
  { when: 'the receipt is recorded', request: /signed_provision/, stall: 'request' },
  { when: 'the locker is open', request: /signed_provision/, stall: 'answer' },
]

/** Returns the transaction that paid. */
async function buyAfterKill({ when, request, count = 1, stall }: Ending): Promise<string> {
  const { gateway, chains } = shop.market
  const proxies = [await startFaultyProxy(gateway.url), await startFaultyProxy(chains.primary.url)] as const
  const [front, node] = proxies
  const variables = { ...(await shop.variables('solana')), SVC_GATEWAY: front.url, SVC_PRIMARY_RPC: node.url }
  const order = { units: 1, intent: `killed when ${when}` }
  const killed = await startStdio(shop.desk, variables)
  let seen = 0
  for (const proxy of proxies)
    proxy.always(request, () => {
      if (++seen !== count) return null
      process.kill(killed.pid, 'SIGKILL')
      return { stall }
    })
  await expect(killed.ask('buy', order), when).rejects.toThrow('Connection closed')
  for (const proxy of proxies) proxy.behave()
  const again = await shop.start('memory', 'solana', variables)
  const { tx } = await again.call('buy', order)
  const { intent } = order
  expect(await again.call('purchase_status', { intent }), when).toMatchObject({ state: 'complete', payments: [{ tx }] })
  for (const proxy of proxies) await proxy.stop()
  return String(tx)
}

it('PAY-55 a purchase is paid once even if the server is killed at any step and restarted', {
  tags: ['nightly'],
}, async () => {
  const before = await shop.market.treasury('USDC')
  const txs = new Set<string>()
  await inParallel(ENDINGS, 3, async (ending) => void txs.add(await buyAfterKill(ending)))
  expect(txs.size).toBe(ENDINGS.length)
  expect((await shop.market.treasury('USDC')) - before).toBe(250_000n * BigInt(ENDINGS.length))
})
