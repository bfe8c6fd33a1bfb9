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
import type { Lifetime } from './publication-nodes.ts'

export interface SignedTransaction {
  /** Its signature: how the chain will name it. */
  tx: string
  raw: string
  lastValidHeight: number
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
    lastValidHeight: Number(lifetime.lastValidBlockHeight),
  }
}
