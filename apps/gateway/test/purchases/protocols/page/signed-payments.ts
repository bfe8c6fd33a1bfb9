// Signs payments of a leg with the facts from a gateway, without sending them.

import { AccountRole, address, createSolanaRpc, getBase64EncodedWireTransaction, type Instruction } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import type { PaymentFacts } from '@svc/api/payment'
import type { PaymentLeg } from '@svc/api/quote'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { sign, signerOf } from '@svc/devnet/primary-chain/dev-client'
import { paymentReference } from '@svc/protocol/ids'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export const PRIMARY_PAYER = DEMO_PAYERS[0]!
export const EVM_PAYER = DEV_PAYERS[0]!
const NATIVE_MINT = 'So11111111111111111111111111111111111111112'

type Change = (instructions: Instruction[]) => Instruction[]
type SignOptions = NonNullable<Parameters<typeof sign>[3]>

interface PrimaryOptions extends Omit<SignOptions, 'lifetime'> {
  key?: typeof PRIMARY_PAYER
  amount?: bigint
  payTo?: string
  memo?: string | null
  /** An additional account of the transfer, as Solana Pay adds it. */
  reference?: string
  change?: Change
}

/** Returns the signed transaction in base64. */
export async function signOnPrimary(facts: PaymentFacts, leg: PaymentLeg, options: PrimaryOptions = {}) {
  const { key = PRIMARY_PAYER, change = (same) => same, reference, payTo = leg.payTo, ...signing } = options
  const { amount = BigInt(leg.amount), memo = paymentReference(leg.extra.pay_req_id) } = options
  const signer = await signerOf(key)
  const destination = address(payTo)
  const mint = address(leg.asset)
  const [source] = await findAssociatedTokenPda({ owner: signer.address, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS })
  const { decimals } = leg.extra
  const transfer: Instruction =
    leg.asset === NATIVE_MINT
      ? getTransferSolInstruction({ source: signer, destination, amount })
      : getTransferCheckedInstruction({ source, mint, destination, authority: signer, amount, decimals })
  const named = reference
    ? {
        ...transfer,
        accounts: [...(transfer.accounts ?? []), { address: address(reference), role: AccountRole.READONLY }],
      }
    : transfer
  const memos =
    memo === null ? [] : [getAddMemoInstruction({ memo }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })]
  const lifetime = {
    blockhash: facts.solana!.blockhash as NonNullable<SignOptions['lifetime']>['blockhash'],
    lastValidBlockHeight: BigInt(facts.solana!.last_valid_block_height),
  }
  // The lifetime is an argument, so no node is called.
  const nowhere = createSolanaRpc('http://127.0.0.1:1')
  const signed = await sign(nowhere, signer, change([named, ...memos]), { ...signing, lifetime })
  return getBase64EncodedWireTransaction(signed)
}

type EvmTransaction = Parameters<ReturnType<typeof privateKeyToAccount>['signTransaction']>[0]

/** Returns the signed transaction in hex. */
export function signOnEvm({ eip155 }: PaymentFacts, changes: Partial<EvmTransaction> = {}): Promise<Hex> {
  const { to, data, value, gas, chain_id, nonce, max_fee_per_gas, max_priority_fee_per_gas } = eip155!
  return privateKeyToAccount(EVM_PAYER.privateKey).signTransaction({
    type: 'eip1559',
    chainId: chain_id,
    to: to as Hex,
    data: data as Hex,
    value: BigInt(value),
    gas: BigInt(gas),
    maxFeePerGas: BigInt(max_fee_per_gas),
    maxPriorityFeePerGas: BigInt(max_priority_fee_per_gas),
    nonce: nonce!,
    ...changes,
  } as EvmTransaction)
}

export function lifeOf({ solana, eip155 }: PaymentFacts): Record<string, string> {
  if (solana) return { lastValidBlockHeight: solana.last_valid_block_height, slot: solana.slot }
  return { nonce: String(eip155?.nonce), block: String(eip155?.block) }
}
