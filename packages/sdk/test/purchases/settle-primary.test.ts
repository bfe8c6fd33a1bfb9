import { createSolanaRpc } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { call, send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signerFromSeed } from '../../src/signers.ts'
import { solanaWallet } from '../../src/wallets/solana-wallet.ts'
import { cutPurchase, patience } from '../buyers.ts'
import { type Market, openMarket } from '../market.ts'

let market: Market
beforeAll(async () => {
  market = await openMarket()
})
afterAll(() => market.close())

const BEFORE_SENDING = { effect: 'send', when: 'before' } as const
const AFTER_SENDING = { effect: 'send', when: 'after' } as const

describe('a payment that was signed and perhaps not sent', () => {
  it('is sent as it is while it can land', async () => {
    const { signed, goOn } = await cutPurchase(market, market.solana(), 'SOL', BEFORE_SENDING)
    const [payment] = await signed()
    expect((await goOn()).tx_hash).toBe(payment?.tx)
  })

  it('is replaced when its blockhash has expired for good', async () => {
    const { signed, goOn } = await cutPurchase(market, market.solana(), 'SOL', BEFORE_SENDING)
    const [payment] = await signed()
    const before = await market.treasury('SOL')
    market.chains.primary.chain.expireBlockhashes()
    const { tx_hash, paid_raw } = await goOn()
    expect(tx_hash).not.toBe(payment?.tx)
    expect((await market.treasury('SOL')) - before).toBe(BigInt(paid_raw))
    expect(await signed()).toHaveLength(1)
  })

  it('is found when it has landed, however late one looks', async () => {
    const { signed, goOn } = await cutPurchase(market, market.solana(), 'SOL', AFTER_SENDING)
    const [payment] = await signed()
    const before = await market.treasury('SOL')
    market.advance(7200)
    expect((await goOn()).tx_hash).toBe(payment?.tx)
    expect(await market.treasury('SOL')).toBe(before)
  })

  it('needs no node where the gateway has seen it', async () => {
    const buyer = market.solana()
    const { signed, goOn } = await cutPurchase(market, buyer, 'SOL', AFTER_SENDING)
    const [payment] = await signed()
    expect((await goOn(withoutNode(buyer.signer))).tx_hash).toBe(payment?.tx)
  })

  it('is left alone while no node answers', async () => {
    const buyer = market.solana()
    const { signed, goOn } = await cutPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    const [payment] = await signed()
    await expect(goOn(withoutNode(buyer.signer))).rejects.toMatchObject({ money: 'may_have_moved', tx: payment?.tx })
    expect((await goOn()).tx_hash).toBe(payment?.tx)
  })

  it('is not replaced on the word of a node that does not remember its time', async () => {
    const forgetful = await startFaultyProxy(market.chains.primary.url)
    const error = { code: -32001, message: 'Block cleaned up' }
    forgetful.always(/getBlockTime/, { answer: { status: 200, body: { jsonrpc: '2.0', id: '0', error } } })
    const { signer } = market.solana()
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: forgetful.url, signer }) }
    const { signed, goOn } = await cutPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    const before = await signed()
    market.advance(7200)
    await expect(goOn(buyer, patience(3))).rejects.toMatchObject({ money: 'may_have_moved', tx: before[0]?.tx })
    expect(await signed()).toEqual(before)
    forgetful.behave()
    expect((await goOn(buyer)).tx_hash).not.toBe(before[0]?.tx)
    await forgetful.stop()
  })

  it('that fails on chain has moved nothing, and is not the last word', async () => {
    const seed = crypto.getRandomValues(new Uint8Array(32))
    const signer = signerFromSeed(seed)
    await faucet(signer.address, 'SOL', '1')
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: market.chains.primary.url, signer }) }
    const { goOn } = await cutPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    await spend(seed, 999_000_000n)
    await expect(goOn()).rejects.toMatchObject({
      money: 'not_moved',
      message: expect.stringMatching(/needs 0\.00\d+ SOL, holds 0\.00\d+/),
    })
    await faucet(signer.address, 'SOL', '1')
    const before = await market.treasury('SOL')
    expect(BigInt((await goOn()).paid_raw)).toBe((await market.treasury('SOL')) - before)
  })
})

type Signer = ReturnType<typeof signerFromSeed>

function withoutNode(signer: Signer) {
  return { signer, wallet: solanaWallet({ rpcUrl: 'http://127.0.0.1:9', signer }) }
}

async function spend(seed: Uint8Array, amount: bigint): Promise<void> {
  const source = await signerOf({ privateKeyBytes: seed } as (typeof DEMO_PAYERS)[0])
  const transfer = getTransferSolInstruction({ source, destination: DEMO_PAYERS[0]!.address, amount })
  await send(createSolanaRpc(market.chains.primary.url), source, [transfer])
}

async function faucet(...params: string[]): Promise<void> {
  const { error } = await call(market.chains.primary.url, 'dev_faucet', params)
  if (error) throw new Error(error.message)
}
