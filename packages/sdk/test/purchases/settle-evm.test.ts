import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { connectAs } from '@svc/devnet/evm-chain/dev-client'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { evmWallet } from '../../src/wallets/evm-wallet.ts'
import { cutPurchase, patience } from '../buyers.ts'
import { type Market, openMarket } from '../market.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})
afterAll(() => market.close())

const BEFORE_SENDING = { effect: 'send', when: 'before' } as const

describe.each(['MON', 'USDC'])('a payment in %s that was signed and perhaps not sent', (asset) => {
  const held = asset === 'MON' ? 'MON' : 'USDC on EVM'

  it('is sent as it is while its quote lasts', async () => {
    const { signed, goOn } = await cutPurchase(market, market.evm(), asset, BEFORE_SENDING)
    const [payment] = await signed()
    expect((await goOn()).tx_hash).toBe(payment?.tx)
  })

  it('is replaced when its nonce is taken', async () => {
    const { signed, goOn } = await cutPurchase(market, market.evm(), asset, BEFORE_SENDING)
    const [payment] = await signed()
    await takeNonce()
    const before = await market.treasury(held)
    const { tx_hash, paid_raw } = await goOn()
    expect(tx_hash).not.toBe(payment?.tx)
    expect((await market.treasury(held)) - before).toBe(BigInt(paid_raw))
  })

  it('gives way to one of the same nonce when its quote is over: only one of both can land', async () => {
    const buyer = market.evm()
    const { signed, goOn } = await cutPurchase(market, buyer, asset, BEFORE_SENDING)
    const [old] = await signed()
    market.advance(400)
    const before = await market.treasury(held)
    const { tx_hash, paid_raw } = await goOn()
    expect((await signed()).map(({ tx }) => tx)).toEqual([old?.tx, tx_hash])
    await expect(buyer.wallet.send(old!)).rejects.toThrow()
    expect((await market.treasury(held)) - before).toBe(BigInt(paid_raw))
  })

  it('PAY-44 ERR-23 AMB-06 that lands after its quote is told as money that moved, and nothing more is paid', async () => {
    const buyer = market.evm()
    const { signed, goOn } = await cutPurchase(market, buyer, asset, BEFORE_SENDING)
    const [late] = await signed()
    market.advance(400)
    await buyer.wallet.send(late!)
    const before = await market.treasury(held)
    const told = { name: 'PaymentError', money: 'moved', tx: late?.tx, cause: { cause: { code: 'quote_expired' } } }
    for (let i = 0; i < 2; i++) await expect(goOn()).rejects.toMatchObject(told)
    expect(await market.treasury(held)).toBe(before)
  })
})

interface Block {
  result: { number?: string } | null
}

it('a payment whose nonce is taken is not replaced on the word of a node that does not remember its time', async () => {
  const forgetful = await startFaultyProxy(market.chains.evm.url)
  const { signer } = market.evm()
  const buyer = { signer, wallet: evmWallet({ rpcUrl: forgetful.url, account: DEV_PAYERS[0]!.privateKey }) }
  const { signed, goOn } = await cutPurchase(market, buyer, 'MON', BEFORE_SENDING)
  const before = await signed()
  await takeNonce()
  forgetful.always(/eth_getBlockByNumber/, { lie: (answers: Block[]) => answers.map(forget) })
  await expect(goOn(buyer, patience(3))).rejects.toMatchObject({ money: 'may_have_moved', tx: before[0]?.tx })
  expect(await signed()).toEqual(before)
  forgetful.behave()
  expect((await goOn()).tx_hash).not.toBe(before[0]?.tx)
  await forgetful.stop()

  function forget(answer: Block) {
    const isSigningBlock = Number(answer.result?.number ?? Number.NaN) === Number(before[0]?.life.block)
    return isSigningBlock ? { ...answer, result: null } : answer
  }
})

/** With something that is no purchase. */
async function takeNonce(): Promise<void> {
  await connectAs(DEV_PAYERS[0]!, market.chains.evm.url).sendTransaction({ to: DEV_PAYERS[1]!.address, value: 1n })
}
