import {
  type Address,
  getBase58Decoder,
  getSignatureFromTransaction,
  getTransactionEncoder,
  type KeyPairSigner,
  type Signature,
} from '@solana/kit'
import { getAddMemoInstruction, SUPPORTED_MEMO_PROGRAM_ADDRESSES } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import {
  findAssociatedTokenPda,
  getCreateAssociatedTokenIdempotentInstruction,
  getRecoverNestedAssociatedTokenInstruction,
  getTransferCheckedInstruction,
  TOKEN_PROGRAM_ADDRESS,
} from '@solana-program/token'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { DEMO_PAYERS, MINTS, PUBLICATION, TREASURY, tokenAccountOf } from '../../src/primary-chain/dev-accounts.ts'
import { call, send, sign, signerOf, startTestChain } from '../../src/primary-chain/dev-client.ts'

const SOL = 1_000_000_000n

describe('the primary chain', () => {
  let running: Awaited<ReturnType<typeof startTestChain>>
  let payer: KeyPairSigner
  let other: KeyPairSigner
  beforeAll(async () => {
    running = await startTestChain({ landing: 'at once' })
    payer = await signerOf(DEMO_PAYERS[0]!)
    other = await signerOf(DEMO_PAYERS[1]!)
  })
  afterAll(() => running.stop())

  const paySol = (source: KeyPairSigner, amount: bigint, destination = TREASURY.address) =>
    getTransferSolInstruction({ source, destination, amount })

  async function finalized(signature: Signature) {
    running.clock.time += 2_000
    const found = await running.rpc
      .getTransaction(signature, { commitment: 'finalized', encoding: 'json', maxSupportedTransactionVersion: 0 })
      .send()
    if (!found?.meta) throw new Error('the transaction is not there')
    return { ...found, meta: found.meta }
  }

  it('transfers SOL, and getTransaction returns the balances before and after', async () => {
    const signature = await send(running.rpc, payer, [paySol(payer, 3n * SOL)])
    const { meta, transaction, slot, blockTime } = await finalized(signature)

    expect(transaction.message.accountKeys.slice(0, 2)).toEqual([payer.address, TREASURY.address])
    expect(meta.err).toBeNull()
    expect(meta.fee).toBe(5_000n)
    expect(meta.preBalances[0]! - meta.postBalances[0]!).toBe(3n * SOL + 5_000n)
    expect(meta.postBalances[1]! - meta.preBalances[1]!).toBe(3n * SOL)
    expect(meta.computeUnitsConsumed).toBe(150n)
    expect(meta.logMessages?.[0]).toBe('Program 11111111111111111111111111111111 invoke [1]')
    expect(await running.rpc.getBlockTime(slot).send()).toBe(blockTime)
    expect(Number(blockTime)).toBe(Math.floor((running.clock.time - 2_000) / 1_000))
    const { value } = await running.rpc.getBalance(TREASURY.address).send()
    expect(value).toBe(meta.postBalances[1])
  })

  it('transfers tokens, and getTransaction returns the token balances before and after', async () => {
    const [source, destination] = await Promise.all(
      [payer.address, TREASURY.address].map((owner) => tokenAccountOf(owner, 'USDC')),
    )
    const signature = await send(running.rpc, payer, [transferUsdc(payer, source!, destination!, 2_500_000n)])
    const { meta, transaction } = await finalized(signature)

    const at = (account: Address) => transaction.message.accountKeys.indexOf(account)
    const expected = (owner: Address, account: Address, amount: bigint, text: string) => ({
      accountIndex: at(account),
      mint: MINTS.USDC.mint,
      owner,
      programId: TOKEN_PROGRAM_ADDRESS,
      uiTokenAmount: { amount: amount.toString(), decimals: 6, uiAmount: Number(text), uiAmountString: text },
    })
    const byIndex = <T extends { accountIndex: number }>(list: readonly T[] | undefined) =>
      [...(list ?? [])].sort((a, b) => a.accountIndex - b.accountIndex)
    expect(byIndex(meta.preTokenBalances)).toEqual(
      byIndex([
        expected(payer.address, source!, 1_000_000_000_000n, '1000000'),
        expected(TREASURY.address, destination!, 0n, '0'),
      ]),
    )
    expect(byIndex(meta.postTokenBalances)).toEqual(
      byIndex([
        expected(payer.address, source!, 999_997_500_000n, '999997.5'),
        expected(TREASURY.address, destination!, 2_500_000n, '2.5'),
      ]),
    )
  })

  it('runs memos v1, v3 and v4', async () => {
    for (const programAddress of SUPPORTED_MEMO_PROGRAM_ADDRESSES) {
      const signature = await send(running.rpc, payer, [getAddMemoInstruction({ memo: 'päyment' }, { programAddress })])
      const { meta } = await finalized(signature)
      expect(meta.err).toBeNull()
    }
  })

  it('charges the fee to a relay and the amount to the payer', async () => {
    const relay = await signerOf(PUBLICATION)
    const signature = await send(running.rpc, relay, [paySol(payer, SOL)])
    const { meta, transaction } = await finalized(signature)
    expect(transaction.signatures).toHaveLength(2)
    expect(transaction.message.accountKeys.slice(0, 2)).toEqual([relay.address, payer.address])
    expect(meta.preBalances[0]! - meta.postBalances[0]!).toBe(10_000n)
    expect(meta.preBalances[1]! - meta.postBalances[1]!).toBe(SOL)
  })

  it('returns a transfer by another program as an inner instruction', async () => {
    const wallet = await tokenAccountOf(payer.address, 'USDC')
    const [nested] = await findAssociatedTokenPda({
      owner: wallet,
      mint: MINTS.USDT.mint,
      tokenProgram: TOKEN_PROGRAM_ADDRESS,
    })
    const usdt = await tokenAccountOf(payer.address, 'USDT')
    await send(running.rpc, payer, [
      getCreateAssociatedTokenIdempotentInstruction({ payer, ata: nested, owner: wallet, mint: MINTS.USDT.mint }),
      getTransferCheckedInstruction({
        source: usdt,
        mint: MINTS.USDT.mint,
        destination: nested,
        authority: payer,
        amount: 7_000_000n,
        decimals: 6,
      }),
    ])
    const signature = await send(running.rpc, payer, [
      getRecoverNestedAssociatedTokenInstruction({
        nestedAssociatedAccountAddress: nested,
        nestedTokenMintAddress: MINTS.USDT.mint,
        destinationAssociatedAccountAddress: usdt,
        ownerAssociatedAccountAddress: wallet,
        ownerTokenMintAddress: MINTS.USDC.mint,
        walletAddress: payer,
      }),
    ])
    const { meta, transaction } = await finalized(signature)
    const inner = meta.innerInstructions?.[0]
    expect(inner?.index).toBe(0)
    const programs = inner?.instructions.map(({ programIdIndex }) => transaction.message.accountKeys[programIdIndex])
    expect(programs).toEqual([TOKEN_PROGRAM_ADDRESS, TOKEN_PROGRAM_ADDRESS])
    expect(inner?.instructions[0]?.stackHeight).toBe(2)
    expect(
      meta.postTokenBalances?.some(({ accountIndex }) => transaction.message.accountKeys[accountIndex] === nested),
    ).toBe(false)

    const parsed = await running.rpc
      .getTransaction(signature, { encoding: 'jsonParsed', maxSupportedTransactionVersion: 0 })
      .send()
    expect(parsed?.meta?.innerInstructions?.[0]?.instructions[0]).toMatchObject({
      program: 'spl-token',
      parsed: {
        type: 'transferChecked',
        info: { source: nested, destination: usdt, tokenAmount: { amount: '7000000' } },
      },
    })
  })

  it('accepts a transaction in base58 by default', async () => {
    const transaction = await sign(running.rpc, payer, [paySol(payer, 8n)])
    const base58 = getBase58Decoder().decode(getTransactionEncoder().encode(transaction))
    const { result } = await call(running.url, 'sendTransaction', [base58, { preflightCommitment: 'confirmed' }])
    expect(result).toBe(getSignatureFromTransaction(transaction))
  })

  it('accepts 200 transfers at once', { tags: ['nightly'] }, async () => {
    const before = (await running.rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()).value
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => {
        const from = index % 2 ? payer : other
        return send(running.rpc, from, [paySol(from, BigInt(1_000 + index))])
      }),
    )
    const after = (await running.rpc.getBalance(TREASURY.address, { commitment: 'processed' }).send()).value
    expect(after - before).toBe(200n * 1_000n + (199n * 200n) / 2n)
  })
})

function transferUsdc(authority: KeyPairSigner, source: Address, destination: Address, amount: bigint) {
  return getTransferCheckedInstruction({
    source,
    mint: MINTS.USDC.mint,
    destination,
    authority,
    amount,
    decimals: MINTS.USDC.decimals,
  })
}
