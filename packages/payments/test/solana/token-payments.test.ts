import { type Address, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit'
import {
  getApproveInstruction,
  getBatchInstruction,
  getCloseAccountInstruction,
  getCreateAssociatedTokenIdempotentInstruction,
  getInitializeAccount3Instruction,
  getInitializeMint2Instruction,
  getInitializeMultisig2Instruction,
  getMintSize,
  getMintToInstruction,
  getMultisigSize,
  getRecoverNestedAssociatedTokenInstruction,
  getTokenSize,
  getTransferInstruction,
} from '@solana-program/token'
import { MINTS, TREASURY, tokenAccountOf } from '@svc/devnet/primary-chain/dev-accounts'
import { call } from '@svc/devnet/primary-chain/dev-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { associatedAccount, type Payments, payUsdc, startPayments, USDC } from './payments.ts'

const PAYER_UNCLEAR = { outcome: 'rejected', reason: 'payer_unclear' }
const NOTHING_RECEIVED = { outcome: 'rejected', reason: 'nothing_received' }
const TRANSACTION_FAILED = { outcome: 'rejected', reason: 'transaction_failed' }

describe('token payments', () => {
  let payments: Payments
  let payer: KeyPairSigner
  let other: KeyPairSigner
  let relay: KeyPairSigner
  let treasuryUsdc: Address
  beforeAll(async () => {
    payments = await startPayments()
    ;({ payer, other, relay } = payments.people)
    treasuryUsdc = payments.treasuryUsdc
  })
  afterAll(() => payments.stop())

  const read = (tx: string) => payments.reader.read(tx, payments.toTreasuryUsdc)

  it('PAY-46 a transfer is found with its payer and amount', async () => {
    const tx = await payments.send(payer, await payUsdc(payer, 750_000n, treasuryUsdc))
    expect(await read(tx)).toMatchObject({ outcome: 'found', tx, payer: payer.address, received: 750_000n })
  })

  it('PAY-46 transfers packed into one instruction count together', async () => {
    const batch = getBatchInstruction([
      await payUsdc(payer, 300_000n, treasuryUsdc),
      await payUsdc(payer, 450_000n, treasuryUsdc),
    ])
    expect(await read(await payments.send(payer, batch))).toMatchObject({ payer: payer.address, received: 750_000n })
  })

  it('PAY-46 the payer may close the account that the payment came from', async () => {
    const { account, open } = await openAccount(payer, USDC)
    await payments.send(payer, ...open, await payUsdc(payer, 5n, account))
    const tx = await payments.send(
      payer,
      getTransferInstruction({ source: account, destination: treasuryUsdc, authority: payer, amount: 5n }),
      getCloseAccountInstruction({ account, destination: payer.address, owner: payer }),
    )
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: 5n })
  })

  it('PAY-46 the destination may be opened by the payment itself', async () => {
    const owner = (await generateKeyPairSigner()).address
    const ata = await associatedAccount(owner, USDC)
    const open = getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint: USDC })
    const tx = await payments.send(payer, open, await payUsdc(payer, 6n, ata))
    const destination = { asset: USDC, payTo: ata }
    expect(await payments.reader.read(tx, destination)).toMatchObject({ payer: payer.address, received: 6n })
  })

  it('T-22 an amount beyond 2^53 is exact', async () => {
    const amount = 2n ** 53n + 1n
    await call(payments.url, 'dev_faucet', [other.address, 'USDC', '10000000000'])
    const tx = await payments.send(other, await payUsdc(other, amount, treasuryUsdc))
    expect(await read(tx)).toMatchObject({ payer: other.address, received: amount })
  })

  it('AMB-75 paying the fee does not make an account the payer', async () => {
    const tx = await payments.send(relay, await payUsdc(payer, 9n, treasuryUsdc))
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: 9n })
  })

  it('AMB-75 a transfer of another token does not add a payer', async () => {
    const give = getTransferInstruction({
      source: await tokenAccountOf(other.address, 'USDT'),
      destination: await tokenAccountOf(payer.address, 'USDT'),
      authority: other,
      amount: 3n,
    })
    const tx = await payments.send(payer, give, await payUsdc(payer, 9n, treasuryUsdc))
    expect(await read(tx)).toMatchObject({ payer: payer.address, received: 9n })
  })

  it('AMB-75 a delegate is not the payer, and the owner is one only after signing', async () => {
    const source = await tokenAccountOf(payer.address, 'USDC')
    await payments.send(payer, getApproveInstruction({ source, delegate: other.address, owner: payer, amount: 20n }))
    const pull = getTransferInstruction({ source, destination: treasuryUsdc, authority: other, amount: 10n })
    expect(await read(await payments.send(other, pull))).toEqual(PAYER_UNCLEAR)
    const signedByBoth = await payments.send(payer, pull)
    expect(await read(signedByBoth)).toMatchObject({ payer: payer.address, received: 10n })
  })

  it('AMB-75 a multisig account signs nothing, so it is not the payer', async () => {
    const multisig = await payments.createAccount(payer, getMultisigSize())
    const signers = [payer.address, other.address]
    const { account, open } = await openAccount(payer, USDC, multisig.address)
    await payments.send(
      payer,
      multisig.create,
      getInitializeMultisig2Instruction({ multisig: multisig.address, m: 2, signers }),
      ...open,
      await payUsdc(payer, 11n, account),
    )
    const pay = getTransferInstruction({
      source: account,
      destination: treasuryUsdc,
      authority: multisig.address,
      amount: 11n,
      multiSigners: [payer, other],
    })
    expect(await read(await payments.send(payer, pay))).toEqual(PAYER_UNCLEAR)
  })

  it('PAY-50 a transaction with two payers has no payer', async () => {
    const both = [await payUsdc(payer, 5n, treasuryUsdc), await payUsdc(other, 5n, treasuryUsdc)]
    expect(await read(await payments.send(payer, ...both))).toEqual(PAYER_UNCLEAR)
  })

  it('PAY-50 minted tokens have no payer', async () => {
    const { result } = await call(payments.url, 'dev_faucet', [TREASURY.address, 'USDC', '1'])
    expect(await read(String(result))).toEqual(PAYER_UNCLEAR)
  })

  it('AMB-75 an inner transfer counts, and its source must have signed too', async () => {
    const wallet = await tokenAccountOf(payer.address, 'USDT')
    const nested = await associatedAccount(wallet, USDC)
    const own = await tokenAccountOf(payer.address, 'USDC')
    const open = getCreateAssociatedTokenIdempotentInstruction({ payer, ata: nested, owner: wallet, mint: USDC })
    await payments.send(payer, open, await payUsdc(payer, 12n, nested))
    const recover = getRecoverNestedAssociatedTokenInstruction({
      nestedAssociatedAccountAddress: nested,
      nestedTokenMintAddress: USDC,
      destinationAssociatedAccountAddress: own,
      ownerAssociatedAccountAddress: wallet,
      ownerTokenMintAddress: MINTS.USDT.mint,
      walletAddress: payer,
    })
    const tx = await payments.send(payer, recover)
    expect(await payments.reader.read(tx, { asset: USDC, payTo: own })).toEqual(PAYER_UNCLEAR)
  })

  it('T-25 a mint with the same ticker is another asset', async () => {
    const mint = await payments.createAccount(payer, getMintSize())
    const source = await associatedAccount(payer.address, mint.address)
    const destination = await associatedAccount(TREASURY.address, mint.address)
    const open = (ata: Address, owner: Address) =>
      getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner, mint: mint.address })
    await payments.send(
      payer,
      mint.create,
      getInitializeMint2Instruction({ mint: mint.address, decimals: 6, mintAuthority: payer.address }),
      open(source, payer.address),
      open(destination, TREASURY.address),
      getMintToInstruction({ mint: mint.address, token: source, mintAuthority: payer, amount: 750_000n }),
    )
    const pay = getTransferInstruction({ source, destination, authority: payer, amount: 750_000n })
    const tx = await payments.send(payer, pay)
    expect(await read(tx)).toEqual(NOTHING_RECEIVED)
    expect(await payments.reader.read(tx, { asset: USDC, payTo: destination })).toEqual(NOTHING_RECEIVED)
  })

  it('T-25 a payment to another account of the treasury does not count', async () => {
    const { account, open } = await openAccount(payer, USDC, TREASURY.address)
    const tx = await payments.send(payer, ...open, await payUsdc(payer, 750_000n, account))
    expect(await read(tx)).toEqual(NOTHING_RECEIVED)
  })

  it('T-25 tokens are not paid to the wallet itself', async () => {
    const tx = await payments.sendUnchecked(payer, await payUsdc(payer, 5n, TREASURY.address))
    expect(await read(tx)).toEqual(TRANSACTION_FAILED)
    const paid = await payments.send(payer, await payUsdc(payer, 5n, treasuryUsdc))
    const wallet = { asset: USDC, payTo: TREASURY.address }
    expect(await payments.reader.read(paid, wallet)).toEqual(NOTHING_RECEIVED)
  })

  /** An account at its own address, not the address derived from owner and mint. */
  async function openAccount(funder: KeyPairSigner, mint: Address, owner = funder.address) {
    const { address: account, create } = await payments.createAccount(funder, getTokenSize())
    return { account, open: [create, getInitializeAccount3Instruction({ account, mint, owner })] }
  }
})
