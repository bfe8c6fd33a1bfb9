import {
  AccountRole,
  type Address,
  getAddressEncoder,
  getProgramDerivedAddress,
  getU64Encoder,
  isSolanaError,
  type KeyPairSigner,
  SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION,
} from '@solana/kit'
import { getTransferSolInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, TREASURY } from '../../src/primary-chain/dev-accounts.ts'
import { send, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'
import { LOOKUP_TABLE_PROGRAM } from '../../src/primary-chain/timeline.ts'

describe('the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  let payer: KeyPairSigner
  beforeAll(async () => {
    running = await startTestChain({ landing: 'at once' })
    payer = await signerOf(DEMO_PAYERS[0]!)
  })
  afterAll(() => running.stop())

  it('executes a payment to an address that a v0 transaction loads from a lookup table', async () => {
    const slot = await running.rpc.getSlot().send()
    const table = await createTable(payer, slot)
    await send(running.rpc, payer, [table.create, extend(table.address, payer, [TREASURY.address])])
    const signature = await send(
      running.rpc,
      payer,
      [getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount: 42n })],
      { lookupTables: { [table.address]: [TREASURY.address] } },
    )
    const options = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const
    const found = await running.rpc.getTransaction(signature, { ...options, encoding: 'json' }).send()
    expect(found?.version).toBe(0)
    expect(found?.transaction.message.accountKeys).toEqual([payer.address, SYSTEM_PROGRAM_ADDRESS])
    expect(found?.meta?.loadedAddresses).toEqual({ writable: [TREASURY.address], readonly: [] })
    expect(found!.meta!.postBalances[2]! - found!.meta!.preBalances[2]!).toBe(42n)

    const parsed = await running.rpc.getTransaction(signature, { ...options, encoding: 'jsonParsed' }).send()
    expect(parsed?.transaction.message.accountKeys[2]).toEqual({
      pubkey: TREASURY.address,
      signer: false,
      writable: true,
      source: 'lookupTable',
    })
    expect(parsed?.transaction.message.instructions[0]).toMatchObject({
      program: 'system',
      parsed: { type: 'transfer', info: { source: payer.address, destination: TREASURY.address, lamports: 42n } },
    })
  })

  it('answers -32015 to a client that does not declare support for v0', async () => {
    const signature = await send(running.rpc, payer, [
      getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount: 43n }),
    ])
    const error = await running.rpc
      .getTransaction(signature, { encoding: 'json' })
      .send()
      .catch((caught: unknown) => caught)
    expect(isSolanaError(error, SOLANA_ERROR__JSON_RPC__SERVER_ERROR_UNSUPPORTED_TRANSACTION_VERSION)).toBe(true)
  })

  it('accepts legacy transactions and returns them to every client', async () => {
    const signature = await send(
      running.rpc,
      payer,
      [getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount: 44n })],
      { version: 'legacy' },
    )
    const old = await running.rpc.getTransaction(signature, { encoding: 'json' }).send()
    expect(old?.meta?.err).toBeNull()
    expect(old).not.toHaveProperty('version')
    const current = await running.rpc
      .getTransaction(signature, { encoding: 'base58', maxSupportedTransactionVersion: 0 })
      .send()
    expect(current?.version).toBe('legacy')
    expect(current?.transaction[1]).toBe('base58')
  })

  it('refuses a transaction whose lookup table does not exist', async () => {
    const missing = await createTable(payer, 1n)
    await expect(
      send(
        running.rpc,
        payer,
        [getTransferSolInstruction({ source: payer, destination: TREASURY.address, amount: 45n })],
        { lookupTables: { [missing.address]: [TREASURY.address] } },
      ),
    ).rejects.toMatchObject({ cause: { message: expect.stringContaining("table account that doesn't exist") } })
  })
})

// The client library of the lookup table program does not support this version of kit, so this encodes its two
// instructions.
async function createTable(authority: KeyPairSigner, recentSlot: bigint) {
  const slotBytes = getU64Encoder().encode(recentSlot)
  const [address, bump] = await getProgramDerivedAddress({
    programAddress: LOOKUP_TABLE_PROGRAM,
    seeds: [getAddressEncoder().encode(authority.address), slotBytes],
  })
  const data = Uint8Array.from([0, 0, 0, 0, ...slotBytes, bump])
  return { address, create: lookupTableInstruction(address, authority, data) }
}

function extend(table: Address, authority: KeyPairSigner, addresses: Address[]) {
  const bytes = addresses.flatMap((address) => [...getAddressEncoder().encode(address)])
  const data = Uint8Array.from([2, 0, 0, 0, ...getU64Encoder().encode(BigInt(addresses.length)), ...bytes])
  return lookupTableInstruction(table, authority, data)
}

function lookupTableInstruction(table: Address, authority: KeyPairSigner, data: Uint8Array) {
  const signer = { address: authority.address, role: AccountRole.WRITABLE_SIGNER, signer: authority } as const
  return {
    programAddress: LOOKUP_TABLE_PROGRAM,
    accounts: [
      { address: table, role: AccountRole.WRITABLE },
      signer,
      signer,
      { address: SYSTEM_PROGRAM_ADDRESS, role: AccountRole.READONLY },
    ],
    data,
  }
}
