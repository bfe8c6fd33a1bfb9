import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { startProcess } from '@svc/devnet/start-process'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { fileJournal } from '../../src/node/file-journal.ts'
import { interruptPurchase } from '../buyers.ts'
import { type Market, openMarket } from '../market.ts'

let market: Market
let folder: string
beforeAll(async () => {
  market = await openMarket()
  folder = await mkdtemp(join(tmpdir(), 'svc-buyer-'))
})
afterAll(async () => {
  await market.close()
  await rm(folder, { recursive: true })
})

const program = new URL('../programs/buy-until-killed.ts', import.meta.url)
const seed = Buffer.from(DEMO_PAYERS[1]!.privateKeyBytes).toString('hex')

it('PAY-55 a buyer whose process is killed at a critical step and restarted pays once', {
  tags: ['nightly'],
}, async () => {
  const { signer, wallet } = market.solana(1)
  const { effects } = await interruptPurchase(market, { signer, wallet }, 'SOL', { effect: 'never', when: 'before' })
  const [note, sent] = [effects.indexOf('put') + 1, effects.indexOf('send') + 1]
  const interruptions = [
    { effect: note, when: 'before' },
    { effect: note, when: 'after' },
    { effect: sent, when: 'before' },
    { effect: sent, when: 'after' },
    { effect: effects.length - 1, when: 'before' }, // the receipt exists and is not recorded
    { effect: effects.length, when: 'before' }, // the receipt is recorded and the locker is not open
  ]
  const before = await market.treasury('SOL')
  const receipts = await Promise.all(
    interruptions.map(async (interruption) => {
      const intent = `killed ${interruption.when} ${interruption.effect}`
      const place = { baseUrl: market.proxy.url, rpcUrl: market.chains.primary.url, folder }
      const task = { ...place, seed, pinnedKeys: [market.key], intent, interruption }
      const killed = startProcess(program, { args: [JSON.stringify(task)] })
      expect(await killed.ended).toMatchObject({ signal: 'SIGKILL', stderr: '' })
      const client = market.client({ signer, journal: fileJournal(folder), pinnedKeys: [market.key] })
      return (await client.buy({ intent, units: 1, asset: 'SOL', wallet })).receipt
    }),
  )
  expect(new Set(receipts.map(({ tx_hash }) => tx_hash)).size).toBe(interruptions.length)
  const paid = receipts.reduce((sum, { paid_raw }) => sum + BigInt(paid_raw), 0n)
  expect((await market.treasury('SOL')) - before).toBe(paid)
})
