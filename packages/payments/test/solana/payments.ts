import { type Address, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit'
import { getCreateAccountInstruction, getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { PRIMARY } from '@svc/api/networks'
import {
  DEMO_PAYERS,
  GENESIS_HASH,
  MINTS,
  PUBLICATION,
  TREASURY,
  tokenAccountOf,
} from '@svc/devnet/primary-chain/dev-accounts'
import { send, signerOf, startTestChain } from '@svc/devnet/primary-chain/dev-client'
import type { Destination } from '../../src/payment.ts'
import { createSolanaPaymentReader, type SolanaPaymentReaderOptions } from '../../src/solana/payment-reader.ts'

export const SOL = 1_000_000_000n
export const USDC = MINTS.USDC.mint
export const TO_TREASURY: Destination = { asset: PRIMARY.nativeAsset, payTo: TREASURY.address }

/** A chain, a reader of it, and funded accounts. */
export async function startPayments() {
  const running = await startTestChain()
  const [payer, other, relay, treasury] = await Promise.all(
    [DEMO_PAYERS[0]!, DEMO_PAYERS[1]!, PUBLICATION, TREASURY].map(signerOf),
  )
  const readerOf = (options: Partial<SolanaPaymentReaderOptions> = {}) =>
    createSolanaPaymentReader({ rpcUrls: [running.url], genesisHash: GENESIS_HASH, ...options })
  const treasuryUsdc = await tokenAccountOf(TREASURY.address, 'USDC')
  return {
    ...running,
    people: { payer: payer!, other: other!, relay: relay!, treasury: treasury! },
    reader: readerOf(),
    readerOf,
    treasuryUsdc,
    toTreasuryUsdc: { asset: USDC, payTo: treasuryUsdc },
    send: (feePayer: KeyPairSigner, ...instructions: Instruction[]) => send(running.rpc, feePayer, instructions),
    /** Skips the simulation that would keep a failing transaction away from the chain. */
    sendUnchecked: (feePayer: KeyPairSigner, ...instructions: Instruction[]) =>
      send(running.rpc, feePayer, instructions, { skipPreflight: true }),
    /** Pays for a new account of a program's own kind. */
    async createAccount(funder: KeyPairSigner, space: number, programAddress: Address = TOKEN_PROGRAM_ADDRESS) {
      const newAccount = await generateKeyPairSigner()
      const lamports = await running.rpc.getMinimumBalanceForRentExemption(BigInt(space)).send()
      const create = getCreateAccountInstruction({ payer: funder, newAccount, lamports, space, programAddress })
      return { address: newAccount.address, create }
    },
  }
}

export type Payments = Awaited<ReturnType<typeof startPayments>>

export function paySol(source: KeyPairSigner, amount: bigint, destination: Address = TREASURY.address) {
  return getTransferSolInstruction({ source, destination, amount })
}

export async function payUsdc(authority: KeyPairSigner, amount: bigint, to: Address) {
  const source = await tokenAccountOf(authority.address, 'USDC')
  return getTransferInstruction({ source, destination: to, authority, amount })
}

export async function associatedAccount(owner: Address, mint: Address, tokenProgram: Address = TOKEN_PROGRAM_ADDRESS) {
  const [account] = await findAssociatedTokenPda({ owner, mint, tokenProgram })
  return account
}
