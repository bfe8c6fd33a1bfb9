import {
  address,
  appendTransactionMessageInstructions,
  compileTransaction,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  type Instruction,
  pipe,
  type SignatureBytes,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit'
import { toBase58 } from '@svc/protocol/bytes'
import type { Ed25519Signer } from '@svc/protocol/keys'
import type { Lifetime } from './nodes.ts'

/** Everything that is stored before it is sent, named like the columns. */
export interface SignedTransaction {
  /** Its signature: its id on chain. */
  tx: string
  /** Complete: it can be sent again unchanged. */
  raw: string
  /** No block above this height can contain it. */
  last_valid_height: number
}

export function signTransaction(
  key: Ed25519Signer,
  instructions: readonly Instruction[],
  lifetime: Lifetime,
): SignedTransaction {
  const feePayer = address(toBase58(key.publicKey))
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(feePayer, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash(lifetime, m),
    (m) => appendTransactionMessageInstructions(instructions, m),
  )
  const compiled = compileTransaction(message)
  const signature = key.sign(new Uint8Array(compiled.messageBytes)) as SignatureBytes // 64 bytes
  const signatures = { ...compiled.signatures, [feePayer]: signature }
  return {
    tx: toBase58(signature),
    raw: getBase64EncodedWireTransaction({ ...compiled, signatures }),
    last_valid_height: Number(lifetime.lastValidBlockHeight),
  }
}
