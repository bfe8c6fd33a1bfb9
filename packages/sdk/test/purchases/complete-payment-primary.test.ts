import { createSolanaRpc } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { startFaultyProxy } from '@svc/devnet/faulty-proxy'
import type { NodeFaults } from '@svc/devnet/node-faults'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { call, send, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { describe, expect, it } from 'vitest'
import { signerFromSeed } from '../../src/signers.ts'
import { solanaWallet } from '../../src/wallets/solana-wallet.ts'
import { abortAfterWaits, interruptPurchase } from '../buyers.ts'
import { useMarket } from '../market.ts'

const market = useMarket()

const BEFORE_SENDING = { effect: 'send', when: 'before' } as const
const AFTER_SENDING = { effect: 'send', when: 'after' } as const

describe('a payment that was signed but may not have been sent', () => {
  it('is sent unchanged while it can still land', async () => {
    const { signed, resume } = await interruptPurchase(market, market.solana(), 'SOL', BEFORE_SENDING)
    const [payment] = await signed()
    expect((await resume()).tx_hash).toBe(payment?.tx)
  })

  it('is replaced if its blockhash has expired', async () => {
    const { signed, resume } = await interruptPurchase(market, market.solana(), 'SOL', BEFORE_SENDING)
    const [payment] = await signed()
    const before = await market.treasury('SOL')
    market.chains.primary.chain.expireBlockhashes()
    const { tx_hash, paid_raw } = await resume()
    expect(tx_hash).not.toBe(payment?.tx)
    expect((await market.treasury('SOL')) - before).toBe(BigInt(paid_raw))
    expect(await signed()).toHaveLength(1)
  })

  it('is found hours after it has landed', async () => {
    const { signed, resume } = await interruptPurchase(market, market.solana(), 'SOL', AFTER_SENDING)
    const [payment] = await signed()
    const before = await market.treasury('SOL')
    market.advance(7200)
    expect((await resume()).tx_hash).toBe(payment?.tx)
    expect(await market.treasury('SOL')).toBe(before)
  })

  it('is confirmed without a node if the gateway has found it', async () => {
    const buyer = market.solana()
    const { signed, resume } = await interruptPurchase(market, buyer, 'SOL', AFTER_SENDING)
    const [payment] = await signed()
    await market.chains.settle()
    expect((await resume(withoutNode(buyer.signer))).tx_hash).toBe(payment?.tx)
  })

  it('is not replaced while no node answers', async () => {
    const buyer = market.solana()
    const { signed, resume } = await interruptPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    const [payment] = await signed()
    await expect(resume(withoutNode(buyer.signer))).rejects.toMatchObject({ money: 'may_have_moved', tx: payment?.tx })
    expect((await resume()).tx_hash).toBe(payment?.tx)
  })

  it.each<[string, NodeFaults]>([
    ['lacks the block it was signed at', { keeps: 1 }],
    ['lags', { behind: 20_000 }],
    ['refuses every second request', { refusesEvery: 2 }],
  ])('T-45 is not replaced while the node %s', async (_, faults) => {
    const node = await market.chains.primary.startNode()
    const { signer } = market.solana()
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: node.url, signer }) }
    const { signed, resume } = await interruptPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    const before = await signed()
    market.advance(7200)
    node.behave(faults)
    await expect(resume(buyer, abortAfterWaits(3))).rejects.toMatchObject({
      money: 'may_have_moved',
      tx: before[0]?.tx,
    })
    expect(await signed()).toEqual(before)
    node.behave({})
    expect((await resume(buyer)).tx_hash).not.toBe(before[0]?.tx)
  })

  it('T-139 is not replaced while the node is on another chain, where it can never land', async () => {
    const node = await startFaultyProxy(market.chains.primary.url)
    const { signer } = market.solana()
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: node.url, signer }) }
    const { signed, resume } = await interruptPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    const before = await signed()
    market.advance(7200)
    node.always(/getGenesisHash/, {
      lie: (answer: object) => ({ ...answer, result: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' }),
    })
    await expect(resume(buyer, abortAfterWaits(3))).rejects.toMatchObject({ money: 'may_have_moved' })
    expect(await signed()).toEqual(before)
    node.behave()
    expect((await resume(buyer)).tx_hash).not.toBe(before[0]?.tx)
    await node.stop()
  })

  it('is replaced if it fails on chain, because it then moves no money', async () => {
    const seed = crypto.getRandomValues(new Uint8Array(32))
    const signer = signerFromSeed(seed)
    await faucet(signer.address, 'SOL', '1')
    const buyer = { signer, wallet: solanaWallet({ rpcUrl: market.chains.primary.url, signer }) }
    const { resume } = await interruptPurchase(market, buyer, 'SOL', BEFORE_SENDING)
    await spend(seed, 999_000_000n)
    await expect(resume()).rejects.toMatchObject({
      money: 'not_moved',
      message: expect.stringMatching(/needs 0\.00\d+ SOL, holds 0\.00\d+/),
    })
    await faucet(signer.address, 'SOL', '1')
    const before = await market.treasury('SOL')
    expect(BigInt((await resume()).paid_raw)).toBe((await market.treasury('SOL')) - before)
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
