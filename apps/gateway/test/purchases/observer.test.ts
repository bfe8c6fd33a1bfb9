// An observer who has read both chains from their first block and knows every formula calls the public endpoints.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ASSETS } from '@svc/api/assets'
import type { Confirmation } from '@svc/api/purchases'
import { expectError, legOf, type Market, payReqId } from '@svc/devnet/services/market'
import { paymentReference, receiptId } from '@svc/protocol/ids'
import type { SignedReceipt } from '@svc/protocol/receipt'
import { createLog } from '@svc/service/program/log'
import { type Hex, keccak256 } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  EVM_OWNER,
  OWNER,
  openSponsoredMarket,
  quotes,
  type SponsoredMarket,
  type SponsoredShop,
} from './protocols/sponsored/sponsored-market.ts'
import { buyWith, FAMILIES, walletOn } from './protocols/x402/x402-testbed.ts'

interface Published {
  tx: string
  /** The bytes of the transaction, one character each. */
  text: string
}

let folder: string
let sponsored: SponsoredMarket
let market: Market
let shop: SponsoredShop
const logged: string[] = []
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-observer-'))
  sponsored = await openSponsoredMarket({ stateFolder: folder })
  market = sponsored.market
  // Stock clients sign with the real time.
  market.clock.advance(Math.floor((Date.now() - market.clock.now()) / 1000))
  const write = (line: string) => void logged.push(line)
  const log = createLog('debug', { write, writeSoon: write, flush() {} })
  shop = await sponsored.open({ PUBLISH: 'statements,payments' }, { log })
})
afterAll(async () => {
  await sponsored.close()
  await rm(folder, { recursive: true })
})

const LEGS = ASSETS.map(({ ticker, network }) => [ticker, network.name] as const)

/** Every transaction of both chains, read from their data files. */
async function readChains(): Promise<Published[]> {
  const linesOf = async (file: string) => (await readFile(join(folder, file), 'utf8')).trim().split('\n')
  const primary = (await linesOf('primary-chain.jsonl')).flatMap((line) => {
    const { transaction } = JSON.parse(line) as { transaction?: { signature: string; wire: string } }
    return transaction
      ? [{ tx: transaction.signature, text: Buffer.from(transaction.wire, 'base64').toString('latin1') }]
      : []
  })
  const evm = (await linesOf('evm-chain.jsonl')).flatMap((line) => {
    const { method, params } = JSON.parse(line) as { method?: string; params?: [Hex] }
    if (method !== 'eth_sendRawTransaction' || !params) return []
    return [{ tx: keccak256(params[0]), text: Buffer.from(params[0].slice(2), 'hex').toString('latin1') }]
  })
  return [...primary, ...evm]
}

/** Every receipt id that can be derived from the contents of a transaction, with or without the prefix of a quote. */
function guesses({ tx, text }: Published): string[] {
  const names = [...text.matchAll(/(?:ref|pr)_([0-9a-f]{32})/g)]
  return names.flatMap(([name, hex]) => [name, `pr_${hex}`, hex!].map((guess) => receiptId(guess, tx)))
}

async function existing(receiptIds: readonly string[]): Promise<string[]> {
  const replies = await Promise.all(receiptIds.map((id) => shop.send('GET', `/v1/receipts/${id}`)))
  return receiptIds.filter((_, i) => replies[i]!.status !== 404)
}

async function buyOn(ticker: string, network: string, isPlain = false): Promise<SignedReceipt> {
  const quote = await shop.quote()
  const tx = await market.pay(legOf(quote, ticker, network), isPlain ? { memo: payReqId(quote) } : {})
  const named = { pay_req_id: payReqId(quote), pay_network: network, pay_asset: ticker }
  const { status, body } = await shop.confirm(named, tx)
  expect(status, JSON.stringify(body)).toBe(200)
  return body.receipt
}

async function buyBatch(network: string): Promise<SignedReceipt[]> {
  const { ids, sum } = await quotes(shop, 3, 'USDC', network)
  const tx_sig = await market.pay(sum, { memo: ids.map(paymentReference).join(' ') })
  const owner_identity = network === 'evm-mainnet' ? EVM_OWNER : OWNER
  const { body } = await shop.sponsorBatch({ pay_req_ids: ids, tx_sig, owner_identity })
  expect(body, JSON.stringify(body)).toMatchObject({ ok: true, succeeded: 3 })
  const receipts = body.results.map(({ receipt_id }) => shop.send<SignedReceipt>('GET', `/v1/receipts/${receipt_id}`))
  return (await Promise.all(receipts)).map((reply) => reply.body)
}

/** Buys with every leg and in every way. */
async function buyEverything(): Promise<SignedReceipt[]> {
  const receipts: SignedReceipt[] = []
  for (const [ticker, network] of LEGS) receipts.push(await buyOn(ticker, network))
  for (const network of ['primary-mainnet', 'evm-mainnet']) receipts.push(...(await buyBatch(network)))
  for (const family of FAMILIES) {
    const bought = await buyWith(await walletOn(family, market.chains), shop.gateway.url)
    receipts.push(((await bought.json()) as Confirmation).receipt)
  }
  await shop.gateway.context.queue.drain()
  return receipts
}

it('T-12 ADD-03 an observer of both chains cannot compute a receipt id or get one from the gateway or its log', {
  tags: ['nightly'],
}, async () => {
  const receipts = await buyEverything()
  const published = await readChains()
  const all = published.map(({ text }) => text).join('\n')
  const log = logged.join('')
  expect(log).toContain('/v1/storage/confirm')
  for (const { pay_req_id, receipt_id } of receipts) {
    expect(all).toContain(paymentReference(pay_req_id))
    for (const secret of [pay_req_id, pay_req_id.slice(3), receipt_id, receipt_id.slice(5)])
      for (const text of [all, log]) expect(text).not.toContain(secret)
  }
  const paying = new Set(receipts.map(({ tx_hash }) => tx_hash))
  const computed = published.filter(({ tx }) => paying.has(tx)).flatMap(guesses)
  expect(computed.length).toBeGreaterThanOrEqual(receipts.length)
  expect(await existing(computed)).toEqual([])
  for (const { pay_req_id, tx_hash } of receipts) {
    const asked = await shop.confirm({ pay_req_id: paymentReference(pay_req_id) }, tx_hash)
    expectError(asked, 404, 'pay_req_not_found')
  }
})
