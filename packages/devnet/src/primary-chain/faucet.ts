import {
  type Address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getTransactionEncoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { getTransferSolInstruction } from '@solana-program/system'
import { getCreateAssociatedTokenIdempotentInstruction, getMintToCheckedInstruction } from '@solana-program/token'
import { lastValidBlockHeight } from './blockhashes.ts'
import type { PrimaryChain } from './chain.ts'
import { FAUCET, MINT_AUTHORITY, MINTS, type TokenAsset, tokenAccountOf } from './dev-accounts.ts'
import type { TransactionRecord } from './ledger.ts'
import { RPC_CODES, RpcError } from './rpc-error.ts'
import { describeTransactionError } from './transaction-errors.ts'
import { decodeWireTransaction } from './wire-transaction.ts'

export function giveSol(chain: PrimaryChain, to: Address, amount: bigint): TransactionRecord {
  const source = createNoopSigner(FAUCET.address)
  return send(chain, [getTransferSolInstruction({ source, destination: to, amount })])
}

export async function giveTokens(chain: PrimaryChain, to: Address, asset: TokenAsset, amount: bigint) {
  const { mint, decimals } = MINTS[asset]
  const ata = await tokenAccountOf(to, asset)
  const payer = createNoopSigner(FAUCET.address)
  const mintAuthority = createNoopSigner(MINT_AUTHORITY.address)
  return send(chain, [
    getCreateAssociatedTokenIdempotentInstruction({ payer, ata, owner: to, mint }),
    getMintToCheckedInstruction({ mint, token: ata, mintAuthority, amount, decimals }),
  ])
}

// Synchronous from the blockhash to the execution: two equal gifts at once would else be one and the same transaction.
function send(chain: PrimaryChain, instructions: Instruction[]): TransactionRecord {
  const issued = chain.latestBlockhash(chain.view('processed'))
  const lifetime = { blockhash: issued.blockhash, lastValidBlockHeight: BigInt(lastValidBlockHeight(issued)) }
  const compiled = pipe(
    createTransactionMessage({ version: 0 }),
    (message) => setTransactionMessageFeePayer(FAUCET.address, message),
    (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
    (message) => appendTransactionMessageInstructions(instructions, message),
    compileTransaction,
  )
  const signatures = { ...compiled.signatures } as Record<Address, Uint8Array | null>
  for (const key of [FAUCET, MINT_AUTHORITY])
    if (key.address in signatures) signatures[key.address] = key.sign(new Uint8Array(compiled.messageBytes))
  const bytes = getTransactionEncoder().encode({ ...compiled, signatures } as typeof compiled)
  const result = chain.submit(decodeWireTransaction(new Uint8Array(bytes)))
  const err = 'dropped' in result ? result.dropped : result.err
  if (err !== null || 'dropped' in result)
    throw new RpcError(
      RPC_CODES.internalError,
      `The faucet's transaction failed: ${describeTransactionError(err ?? '')}`,
    )
  return result
}
