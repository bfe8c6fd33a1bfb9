import { type Base64EncodedWireTransaction, getBase64EncodedWireTransaction, type KeyPairSigner } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { call, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

const SOL = 1_000_000_000n

describe('simulateTransaction', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  let payer: KeyPairSigner
  let wire: Base64EncodedWireTransaction
  let unsigned: Base64EncodedWireTransaction
  beforeAll(async () => {
    running = await startTestChain({ landing: 'at once' })
    payer = await signerOf(DEMO_PAYERS[0]!)
  })
  beforeEach(async () => {
    const transaction = await sign(running.rpc, payer, [
      getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount: SOL }),
    ])
    wire = getBase64EncodedWireTransaction(transaction)
    unsigned = getBase64EncodedWireTransaction({ ...transaction, signatures: { [payer.address]: null } } as never)
  })
  afterAll(() => running.stop())

  it('runs a transaction without its signatures, and changes nothing', async () => {
    const { rpc } = running
    const before = await rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()
    const { value } = await rpc.simulateTransaction(unsigned, { encoding: 'base64', sigVerify: false }).send()
    expect(value).toMatchObject({ err: null, unitsConsumed: 150n, fee: 5_000n, accounts: null })
    expect(value.postBalances![1]! - value.preBalances![1]!).toBe(SOL)
    const after = await rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()
    expect(after.value).toBe(before.value)
  })

  it('verifies signatures on request', async () => {
    const { value } = await running.rpc.simulateTransaction(wire, { encoding: 'base64', sigVerify: true }).send()
    expect(value.err).toBeNull()
    const refused = await call(running.url, 'simulateTransaction', [unsigned, { encoding: 'base64', sigVerify: true }])
    expect(refused.error?.code).toBe(-32003)
    const both = { encoding: 'base64', sigVerify: true, replaceRecentBlockhash: true }
    expect((await call(running.url, 'simulateTransaction', [wire, both])).error?.code).toBe(-32602)
  })

  it('returns the accounts as they would be afterwards', async () => {
    const { value } = await running.rpc
      .simulateTransaction(wire, {
        encoding: 'base64',
        accounts: { addresses: [TREASURY.address, DEMO_PAYERS[1]!.address], encoding: 'base64' },
      })
      .send()
    expect(value.accounts.map((account) => account?.lamports)).toEqual([2n * SOL, 1_000n * SOL])
  })

  it('replaces an expired blockhash only on request', async () => {
    running.chain.expireBlockhashes()
    const { value: expired } = await running.rpc.simulateTransaction(wire, { encoding: 'base64' }).send()
    expect(expired.err).toBe('BlockhashNotFound')
    const { value } = await running.rpc
      .simulateTransaction(wire, { encoding: 'base64', replaceRecentBlockhash: true })
      .send()
    expect(value.err).toBeNull()
    const { value: latest } = await running.rpc.getLatestBlockhash().send()
    expect(value.replacementBlockhash).toEqual(latest)
  })
})
