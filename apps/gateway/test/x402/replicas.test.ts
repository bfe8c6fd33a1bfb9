import { createFreshDatabase, type FreshDatabase } from '@svc/devnet/databases'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { startTestGateway } from '@svc/testbed/gateway'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Gateway } from '../../src/gateway.ts'
import { FAMILIES, PRICE, pay, signFor, treasuryUsdc, walletOn } from './x402-testbed.ts'

let chains: LocalChains
let database: FreshDatabase
let gateways: Gateway[]
beforeAll(async () => {
  chains = await startLocalChains()
  database = await createFreshDatabase('postgres')
  const start = () => startTestGateway({ ...chains.variables, DATABASE_URL: database.url, X402_WAIT_SECONDS: '300' })
  gateways = [await start(), await start()]
})
afterAll(async () => {
  for (const gateway of gateways) await gateway.stop()
  await database.drop()
  await chains.stop()
})

const urlOf = (turn: number) => gateways[turn % gateways.length]!.url

describe.each(FAMILIES)('two gateways with one database and the same keys, on the %s chain', (family) => {
  it('T-16 two gateways that get one signature many times at once move the payment once and write one receipt', {
    tags: ['nightly'],
  }, async () => {
    const { text } = await signFor(await walletOn(family, chains), urlOf(0))
    const before = await treasuryUsdc(family, chains)
    const replies = await Promise.all(Array.from({ length: 10 }, (_, turn) => pay(urlOf(turn), text)))
    expect(replies.map(({ status }) => status)).toEqual(Array(10).fill(200))
    expect(new Set(replies.map(({ body }) => body.receipt_id)).size).toBe(1)
    expect(replies.filter(({ body }) => !body.idempotent)).toHaveLength(1)
    expect((await treasuryUsdc(family, chains)) - before).toBe(PRICE)
  })
})
