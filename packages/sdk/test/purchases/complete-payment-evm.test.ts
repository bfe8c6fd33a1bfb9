import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import type { NodeFaults } from '@svc/devnet/node-faults'
import { describe, expect, it } from 'vitest'
import { evmWallet } from '../../src/wallets/evm-wallet.ts'
import { abortAfterWaits, interruptPurchase } from '../buyers.ts'
import { useMarket } from '../market.ts'

const market = useMarket()

const BEFORE_SENDING = { effect: 'send', when: 'before' } as const

describe.each(['MON', 'USDC'])('a payment in %s that was signed but may not have been sent', (asset) => {
  const held = asset === 'MON' ? 'MON' : 'USDC on EVM'

  it('is sent unchanged while its quote is valid', { tags: ['nightly'] }, async () => {
    const { signed, resume } = await interruptPurchase(market, market.evm(), asset, BEFORE_SENDING)
    const [payment] = await signed()
    expect((await resume()).tx_hash).toBe(payment?.tx)
  })

  it('is replaced if another transaction has used its nonce', async () => {
    const { signed, resume } = await interruptPurchase(market, market.evm(), asset, BEFORE_SENDING)
    const [payment] = await signed()
    await takeNonce()
    const before = await market.treasury(held)
    const { tx_hash, paid_raw } = await resume()
    expect(tx_hash).not.toBe(payment?.tx)
    expect((await market.treasury(held)) - before).toBe(BigInt(paid_raw))
  })

  it('is replaced by a payment with the same nonce if its quote expires, so only one of them can land', async () => {
    const buyer = market.evm()
    const { signed, resume } = await interruptPurchase(market, buyer, asset, BEFORE_SENDING)
    const [old] = await signed()
    market.advance(400)
    const before = await market.treasury(held)
    const { tx_hash, paid_raw } = await resume()
    expect((await signed()).map(({ tx }) => tx)).toEqual([old?.tx, tx_hash])
    await expect(buyer.wallet.send(old!)).rejects.toThrow()
    expect((await market.treasury(held)) - before).toBe(BigInt(paid_raw))
  })

  it('PAY-44 ERR-23 is reported as moved money if it lands after its quote expires, and nothing more is paid', async () => {
    const buyer = market.evm()
    const { signed, resume } = await interruptPurchase(market, buyer, asset, BEFORE_SENDING)
    const [late] = await signed()
    market.advance(400)
    await buyer.wallet.send(late!)
    const before = await market.treasury(held)
    const expected = { name: 'PaymentError', money: 'moved', tx: late?.tx, cause: { cause: { code: 'quote_expired' } } }
    for (let i = 0; i < 2; i++) await expect(resume()).rejects.toMatchObject(expected)
    expect(await market.treasury(held)).toBe(before)
  })
})

it.each<[string, NodeFaults]>([
  ['lacks the block it was signed at', { keeps: 3 }],
  ['lags', { behind: 10 }],
  ['refuses every second request', { refusesEvery: 2 }],
])('T-45 a payment whose nonce is used is not replaced while the node %s', async (_, faults) => {
  const node = await market.chains.evm.startNode()
  const { signer } = market.evm()
  const buyer = { signer, wallet: evmWallet({ rpcUrl: node.url, account: DEV_PAYERS[0]!.privateKey }) }
  const { signed, resume } = await interruptPurchase(market, buyer, 'MON', BEFORE_SENDING)
  const before = await signed()
  await takeNonce()
  await market.chains.evm.chain.settle()
  node.behave(faults)
  await expect(resume(buyer, abortAfterWaits(3))).rejects.toMatchObject({ money: 'may_have_moved', tx: before[0]?.tx })
  expect(await signed()).toEqual(before)
  node.behave({})
  expect((await resume()).tx_hash).not.toBe(before[0]?.tx)
})

/** Uses the next nonce for a transfer that is not a purchase. */
async function takeNonce(): Promise<void> {
  await connectAs(DEV_PAYERS[0]!, market.chains.evm.url).sendTransaction({ to: DEV_PAYERS[1]!.address, value: 1n })
}
