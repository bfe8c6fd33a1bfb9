import { generateKeyPairSigner, getAddressEncoder, type KeyPairSigner, lamports } from '@solana/kit'
import { getCreateAccountInstruction, SYSTEM_PROGRAM_ADDRESS } from '@solana-program/system'
import {
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getSyncNativeInstruction,
  getTransferInstruction,
} from '@solana-program/token'
import { PRIMARY } from '@svc/api/networks'
import { TREASURY } from '@svc/devnet/primary-chain/dev-accounts'
import { call, send } from '@svc/devnet/primary-chain/dev-client'
import { LOOKUP_TABLE_PROGRAM } from '@svc/devnet/primary-chain/timeline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { associatedAccount, type Payments, paySol, SOL, startPayments, TO_TREASURY, USDC } from './payments.ts'

const PAYER_UNCLEAR = { outcome: 'rejected', reason: 'payer_unclear' }
const NOTHING_RECEIVED = { outcome: 'rejected', reason: 'nothing_received' }
const TRANSACTION_FAILED = { outcome: 'rejected', reason: 'transaction_failed' }

describe('SOL payments', () => {
  let payments: Payments
  let payer: KeyPairSigner
  let other: KeyPairSigner
  let relay: KeyPairSigner
  beforeAll(async () => {
    payments = await startPayments()
    ;({ payer, other, relay } = payments.people)
  })
  afterAll(() => payments.stop())

  const read = (tx: string, payTo: string = TREASURY.address) => payments.reader.read(tx, { ...TO_TREASURY, payTo })

  it('PAY-46 a transfer is found with its payer, amount, slot and time', async () => {
    const tx = await payments.send(payer, paySol(payer, 3n * SOL))
    const [status] = (await payments.rpc.getSignatureStatuses([tx]).send()).value
    expect(await read(tx)).toEqual({
      outcome: 'found',
      tx,
      payer: payer.address,
      received: 3n * SOL,
      height: Number(status!.slot),
      blockTime: payments.clock.time / 1000,
      references: [],
      authorizations: [],
    })
  })

  it('PAY-46 the destination may come from a lookup table', async () => {
    const { address } = await generateKeyPairSigner()
    const data = new Uint8Array(56 + 32)
    // A lookup table that is not deactivated.
    data.set([1, 0, 0, 0, ...Array(8).fill(255)])
    data.set(getAddressEncoder().encode(TREASURY.address), 56)
    const account = { address, programAddress: LOOKUP_TABLE_PROGRAM, executable: false, data, space: 88n }
    payments.chain.svm.setAccount({ ...account, lamports: lamports(SOL) })
    const lookupTables = { [address]: [TREASURY.address] }
    const tx = await send(payments.rpc, payer, [paySol(payer, 42n)], { lookupTables })
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: 42n })
  })

  it('T-22 an amount beyond 2^53 is exact', async () => {
    const amount = 2n ** 53n + 1n
    await call(payments.url, 'dev_faucet', [other.address, 'SOL', '10000000'])
    const tx = await payments.send(other, paySol(other, amount))
    expect(await read(tx)).toMatchObject({ payer: other.address, received: amount })
  })

  it('AMB-75 paying the fee does not make an account the payer', async () => {
    const tx = await payments.send(relay, paySol(payer, SOL))
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: SOL })
  })

  it('AMB-75 a relay that pays rent is not the payer', async () => {
    const owner = (await generateKeyPairSigner()).address
    const ata = await associatedAccount(owner, USDC)
    const open = getCreateAssociatedTokenIdempotentInstruction({ payer: relay, ata, owner, mint: USDC })
    const tx = await payments.send(relay, open, paySol(payer, SOL))
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: SOL })
  })

  it('AMB-75 the payer may unwrap SOL to pay with', async () => {
    const wrapped = await wrapSol(payer, 5n * SOL)
    const unwrap = getCloseAccountInstruction({ account: wrapped, destination: payer.address, owner: payer })
    const tx = await payments.send(payer, unwrap, paySol(payer, 4n * SOL))
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: 4n * SOL })
  })

  it('AMB-75 an account may be created with the payment in it', async () => {
    const newAccount = await generateKeyPairSigner()
    const create = { payer, newAccount, lamports: 2n * SOL, space: 0, programAddress: SYSTEM_PROGRAM_ADDRESS }
    const tx = await payments.send(relay, getCreateAccountInstruction(create))
    expect(await read(tx, newAccount.address)).toMatchObject({ payer: payer.address, received: 2n * SOL })
  })

  it('AMB-75 a transfer by another program has its payer', async () => {
    const owner = (await generateKeyPairSigner()).address
    const ata = await associatedAccount(owner, USDC)
    await payments.send(payer, paySol(payer, 1_000_000n, ata))
    // The missing rent arrives by an inner transfer.
    const open = getCreateAssociatedTokenIdempotentInstruction({ payer: other, ata, owner, mint: USDC })
    const tx = await payments.send(relay, open)
    const { value: rent } = await payments.rpc.getBalance(ata).send()
    expect(await read(tx, ata)).toMatchObject({ payer: other.address, received: rent - 1_000_000n })
  })

  it('PAY-50 a transaction with two payers has no payer', async () => {
    const tx = await payments.send(payer, paySol(payer, SOL), paySol(other, SOL))
    expect(await read(tx)).toEqual(PAYER_UNCLEAR)
  })

  it('PAY-50 a small transfer does not make its sender the payer of the whole amount', async () => {
    const wrapped = await wrapSol(payer, SOL)
    const close = getCloseAccountInstruction({ account: wrapped, destination: TREASURY.address, owner: payer })
    expect(await read(await payments.send(payer, close, paySol(other, 1n)))).toEqual(PAYER_UNCLEAR)
  })

  it('PAY-50 wrapped SOL is not SOL', async () => {
    const wrapped = await wrapSol(payer, SOL)
    const ata = await associatedAccount(TREASURY.address, wrappedMint)
    const tx = await payments.send(
      payer,
      getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: TREASURY.address, mint: wrappedMint }),
      getTransferInstruction({ source: wrapped, destination: ata, authority: payer, amount: SOL }),
    )
    expect(await read(tx)).toEqual(NOTHING_RECEIVED)
  })

  it.each([
    ['to another address', () => paySol(payer, SOL, other.address)],
    ['of nothing', () => paySol(payer, 0n)],
    ['out of the treasury', () => paySol(payments.people.treasury, 1_000n, payer.address)],
  ])('PAY-50 a transfer %s is not a payment', async (_, instruction) => {
    expect(await read(await payments.send(payer, instruction()))).toEqual(NOTHING_RECEIVED)
  })

  it('PAY-50 a failed transaction pays nothing, though it shows the transfer', async () => {
    const tx = await payments.sendUnchecked(payer, paySol(payer, SOL), paySol(payer, 10n ** 18n))
    const seen = await payments.rpc.getTransaction(tx, { encoding: 'json', maxSupportedTransactionVersion: 0 }).send()
    expect(seen?.meta?.err).not.toBeNull()
    expect(seen?.transaction.message.instructions).toHaveLength(2)
    expect(await read(tx)).toEqual(TRANSACTION_FAILED)
  })

  async function wrapSol(owner: KeyPairSigner, amount: bigint) {
    const ata = await associatedAccount(owner.address, wrappedMint)
    await payments.send(
      owner,
      getCreateAssociatedTokenIdempotentInstruction({ payer: owner, ata, owner: owner.address, mint: wrappedMint }),
      paySol(owner, amount, ata),
      getSyncNativeInstruction({ account: ata }),
    )
    return ata
  }
})

const wrappedMint = PRIMARY.nativeAsset as typeof USDC // an address, though networks hold it as text
