// Pays a leg of a quote on the local chains, as a wallet would.

import { AccountRole, address, createSolanaRpc, type Instruction } from '@solana/kit'
import { getAddMemoInstruction, LEGACY_MEMO_PROGRAM_ADDRESS_V3 } from '@solana-program/memo'
import { getTransferSolInstruction } from '@solana-program/system'
import { findAssociatedTokenPda, getTransferCheckedInstruction, TOKEN_PROGRAM_ADDRESS } from '@solana-program/token'
import { type EvmNetwork, NATIVE_ASSETS, networkNamed } from '@svc/api/networks'
import { paymentReference } from '@svc/protocol/ids'
import { concat, encodeFunctionData, erc20Abi, type Hex, stringToHex } from 'viem'
import { DEV_PAYERS } from './evm-chain/dev-accounts.ts'
import { connectAs } from './evm-chain/dev-client.ts'
import { DEMO_PAYERS } from './primary-chain/dev-accounts.ts'
import { send, signerOf } from './primary-chain/dev-client.ts'

/** The fields of an entry of `accepts` that a payment needs. */
export interface PayableLeg {
  network: string
  amount: string
  asset: string
  payTo: string
  extra: { decimals: number; pay_req_id: string; memo?: string }
}

export interface PayOptions {
  /** The index of a demo payer. */
  payer?: number
  /** Atomic units, where they differ from the leg's. */
  amount?: bigint
  /** The reference in the payment: by default the one that the leg asks for; null for none. */
  memo?: string | null
  /** On the primary chain, an address that the transfer references, as Solana Pay wallets do. */
  reference?: string
}

/** Where the chains' nodes are. */
export interface ChainAddresses {
  primary: { url: string }
  evm: { url: string }
}

/** Waits until the payment is confirmed, and returns the transaction's id. */
export function payLeg(chains: ChainAddresses, leg: PayableLeg, options: PayOptions = {}): Promise<string> {
  // Legs that x402 clients can sign for have no memo.
  const { memo: asked = paymentReference(leg.extra.pay_req_id) } = leg.extra
  const { payer = 0, amount = BigInt(leg.amount), memo = asked, reference = null } = options
  const pay = leg.network.startsWith('eip155:') ? payOnEvm : payOnPrimary
  return pay(pay === payOnEvm ? chains.evm.url : chains.primary.url, leg, { payer, amount, memo, reference })
}

interface Paying {
  payer: number
  amount: bigint
  memo: string | null
  reference: string | null
}

async function payOnPrimary(url: string, leg: PayableLeg, { payer, amount, memo, reference }: Paying): Promise<string> {
  const signer = await signerOf(DEMO_PAYERS[payer]!)
  const memoInstruction =
    memo === null ? [] : [getAddMemoInstruction({ memo }, { programAddress: LEGACY_MEMO_PROGRAM_ADDRESS_V3 })]
  if (leg.asset === NATIVE_ASSETS.solana) {
    const transfer = getTransferSolInstruction({ source: signer, destination: address(leg.payTo), amount })
    return send(createSolanaRpc(url), signer, [named(transfer, reference), ...memoInstruction])
  }
  const mint = address(leg.asset)
  const [source] = await findAssociatedTokenPda({ owner: signer.address, mint, tokenProgram: TOKEN_PROGRAM_ADDRESS })
  const transfer = getTransferCheckedInstruction({
    source,
    mint,
    destination: address(leg.payTo),
    authority: signer,
    amount,
    decimals: leg.extra.decimals,
  })
  return send(createSolanaRpc(url), signer, [named(transfer, reference), ...memoInstruction])
}

function named(transfer: Instruction, reference: string | null): Instruction {
  if (reference === null) return transfer
  const account = { address: address(reference), role: AccountRole.READONLY }
  return { ...transfer, accounts: [...(transfer.accounts ?? []), account] }
}

async function payOnEvm(url: string, leg: PayableLeg, { payer, amount, memo }: Paying): Promise<string> {
  const client = connectAs(DEV_PAYERS[payer]!, url, networkNamed(leg.network) as EvmNetwork) // by its leg
  const reference = memo === null ? '0x' : stringToHex(memo)
  const payTo = leg.payTo as Hex
  if (leg.asset === NATIVE_ASSETS.evm) return client.sendTransaction({ to: payTo, value: amount, data: reference })
  const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [payTo, amount] })
  return client.sendTransaction({ to: leg.asset as Hex, data: concat([transfer, reference]) })
}
