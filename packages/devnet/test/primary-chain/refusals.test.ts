import {
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  isSolanaError,
  type KeyPairSigner,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { forAllTests } from '@svc/devnet/for-tests'
import { describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { call, send, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

const SOL = 1_000_000_000n

const payer = await signerOf(DEMO_PAYERS[0]!)

describe('the primary chain', () => {
  const running = forAllTests(() => startTestChain({ landing: 'at once' }))

  const paySol = (source: KeyPairSigner, amount: bigint) =>
    getTransferSolInstruction({ source, destination: TREASURY.address, amount })

  it('records a failed transaction with its error, logs and fee', async () => {
    const poor = await generateKeyPairSigner()
    const before = (await running.rpc.getBalance(payer.address, { commitment: 'processed' }).send()).value
    const signature = await send(running.rpc, payer, [paySol(poor, SOL)], { skipPreflight: true })
    const found = await running.rpc
      .getTransaction(signature, { encoding: 'base64', maxSupportedTransactionVersion: 0 })
      .send()
    const meta = found!.meta!
    expect(meta.err).toEqual({ InstructionError: [0n, { Custom: 1n }] })
    expect(meta.fee).toBe(10_000n)
    expect(meta.logMessages?.at(-1)).toContain('custom program error: 0x1')
    const { value } = await running.rpc.getSignatureStatuses([signature]).send()
    expect(value[0]).toMatchObject({ err: { InstructionError: [0n, { Custom: 1n }] }, confirmationStatus: 'finalized' })
    expect((await running.rpc.getBalance(payer.address).send()).value).toBe(before - 10_000n)
  })

  it('refuses a transaction that fails its preflight, and records nothing', async () => {
    const poor = await generateKeyPairSigner()
    const transaction = await sign(running.rpc, payer, [paySol(poor, SOL)])
    const error = await sendWire(transaction).catch((caught: unknown) => caught)
    expect(isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_SEND_TRANSACTION_PREFLIGHT_FAILURE)).toBe(true)
    expect(error).toMatchObject({ context: { logs: expect.arrayContaining([expect.stringContaining('0x1')]) } })
    const { value } = await running.rpc.getSignatureStatuses([getSignatureFromTransaction(transaction)]).send()
    expect(value).toEqual([null])

    const wire = getBase64EncodedWireTransaction(transaction)
    const bare = await call(running.url, 'sendTransaction', [wire, { encoding: 'base64' }])
    expect(bare.error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1',
      data: { err: { InstructionError: [0, { Custom: 1 }] }, unitsConsumed: 150, accounts: null },
    })
  })

  it('refuses a transaction that it has already processed', async () => {
    const transaction = await sign(running.rpc, payer, [paySol(payer, 5n)])
    await sendWire(transaction)
    const before = await running.rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()
    await expect(sendWire(transaction)).rejects.toMatchObject({
      cause: { message: expect.stringContaining('already been processed') },
    })
    await sendWire(transaction, true)
    const after = await running.rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()
    expect(after.value).toBe(before.value)
  })

  it('refuses wrong and missing signatures; without a preflight it accepts the transaction, which never lands', async () => {
    const good = await sign(running.rpc, payer, [paySol(payer, 6n)])
    for (const signature of [new Uint8Array(64).fill(7), null]) {
      const bad = { ...good, signatures: { ...good.signatures, [payer.address]: signature } } as typeof good
      const error = await sendWire(bad).catch((caught: unknown) => caught)
      expect(
        isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_TRANSACTION_SIGNATURE_VERIFICATION_FAILURE),
      ).toBe(true)
      const id = await sendWire(bad, true)
      expect((await running.rpc.getSignatureStatuses([id]).send()).value).toEqual([null])
    }
    await sendWire(good)
  })

  it('answers -32015 to a client that does not declare support for v0, unless the transaction is a legacy one', async () => {
    const read = async (version: 0 | 'legacy') => {
      const signature = await send(running.rpc, payer, [paySol(payer, 7n)], { version })
      return call(running.url, 'getTransaction', [signature, { encoding: 'json' }])
    }
    expect((await read(0)).error?.code).toBe(-32015)
    expect((await read('legacy')).result).toMatchObject({ meta: { err: null } })
  })

  it('refuses a transaction whose lookup table does not exist', async () => {
    const { address } = await generateKeyPairSigner()
    const sending = send(running.rpc, payer, [paySol(payer, 8n)], { lookupTables: { [address]: [TREASURY.address] } })
    const message = expect.stringContaining("table account that doesn't exist")
    await expect(sending).rejects.toMatchObject({ cause: { message } })
  })

  function sendWire(transaction: Awaited<ReturnType<typeof sign>>, skipPreflight = false) {
    const wire = getBase64EncodedWireTransaction(transaction)
    return running.rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight }).send()
  }
})
