import { getBase64Decoder, getBase64EncodedWireTransaction, type TransactionMessageBytesBase64 } from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { forEachTest } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { send, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

const payer = await signerOf(DEMO_PAYERS[0]!)

describe('blockhashes of the primary chain', () => {
  const running = forEachTest(() => startTestChain())

  const pay = (amount: bigint) => getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount })
  const latest = async () => (await running.rpc.getLatestBlockhash().send()).value
  const isValid = async (blockhash: Awaited<ReturnType<typeof latest>>['blockhash']) =>
    (await running.rpc.isBlockhashValid(blockhash).send()).value

  it('are valid for 150 blocks while newer ones are issued', async () => {
    const lifetime = await latest()
    for (let amount = 1n; amount <= 5n; amount++) {
      running.clock.time += 10_000
      expect((await latest()).blockhash).not.toBe(lifetime.blockhash)
      await send(running.rpc, payer, [pay(amount)], { lifetime })
    }
    running.clock.time += 10_000
    expect(await running.rpc.getBlockHeight().send()).toBe(lifetime.lastValidBlockHeight - 1n)
    running.clock.time += 400
    expect(await isValid(lifetime.blockhash)).toBe(true)
    running.clock.time += 400
    expect(await isValid(lifetime.blockhash)).toBe(false)
    await expect(send(running.rpc, payer, [pay(6n)], { lifetime })).rejects.toMatchObject({
      cause: { message: expect.stringContaining('Blockhash not found') },
    })
  })

  it('can be expired by a test, and the block height shows it', async () => {
    const lifetime = await latest()
    const transaction = await sign(running.rpc, payer, [pay(1n)], { lifetime })
    running.chain.expireBlockhashes()
    expect(await running.rpc.getBlockHeight().send()).toBeGreaterThan(lifetime.lastValidBlockHeight)
    expect(await isValid(lifetime.blockhash)).toBe(false)
    const wire = getBase64EncodedWireTransaction(transaction)
    await expect(running.rpc.sendTransaction(wire, { encoding: 'base64' }).send()).rejects.toThrow('simulation failed')
    const id = await running.rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight: true }).send()
    expect((await running.rpc.getSignatureStatuses([id]).send()).value).toEqual([null])
    await send(running.rpc, payer, [pay(1n)])
  })

  it('are unknown to a preflight at an older commitment than the one they were requested at', async () => {
    running.clock.time += 4_000
    const lifetime = (await running.rpc.getLatestBlockhash({ commitment: 'processed' }).send()).value
    const wire = getBase64EncodedWireTransaction(await sign(running.rpc, payer, [pay(1n)], { lifetime }))
    const sending = (preflightCommitment: 'processed' | 'finalized') =>
      running.rpc.sendTransaction(wire, { encoding: 'base64', preflightCommitment }).send()
    await expect(sending('finalized')).rejects.toThrow()
    await sending('processed')
  })

  it('determine getFeeForMessage: it returns the fee that is charged later, and null after they expire', async () => {
    const unitPrice = Uint8Array.from([3, 64, 66, 15, 0, 0, 0, 0, 0]) // 1,000,000 micro-lamports
    const budget = { programAddress: 'ComputeBudget111111111111111111111111111111', accounts: [], data: unitPrice }
    const transaction = await sign(running.rpc, payer, [budget as never, pay(1n)])
    const message = getBase64Decoder().decode(transaction.messageBytes) as TransactionMessageBytesBase64
    const { value: fee } = await running.rpc.getFeeForMessage(message).send()
    const before = (await running.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value
    await running.rpc.sendTransaction(getBase64EncodedWireTransaction(transaction), { encoding: 'base64' }).send()
    running.chain.settle()
    const after = (await running.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value
    expect(before - after).toBe(fee! + 1n)
    running.chain.expireBlockhashes()
    expect((await running.rpc.getFeeForMessage(message).send()).value).toBeNull()
  })
})
