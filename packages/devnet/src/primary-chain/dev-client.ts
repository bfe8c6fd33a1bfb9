import {
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  type Blockhash,
  compressTransactionMessageUsingAddressLookupTables,
  createKeyPairSignerFromPrivateKeyBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  type Instruction,
  type KeyPairSigner,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit'
import type { DevKey } from './dev-accounts.ts'
import { type PrimaryChainOptions, startPrimaryChain } from './start.ts'

export type Rpc = ReturnType<typeof createSolanaRpc>

/** A chain on a free port with a clock that a test moves, and a stock client for it. */
export async function startTestChain(options: Partial<PrimaryChainOptions> = {}) {
  const clock = { time: Date.parse('2026-09-01T12:00:00Z') }
  const running = await startPrimaryChain({ port: 0, now: () => clock.time, ...options })
  return { ...running, rpc: createSolanaRpc(running.url), clock }
}

export function signerOf(key: DevKey): Promise<KeyPairSigner> {
  return createKeyPairSignerFromPrivateKeyBytes(key.privateKeyBytes)
}

interface Lifetime {
  readonly blockhash: Blockhash
  readonly lastValidBlockHeight: bigint
}

interface SignOptions {
  readonly version?: 0 | 'legacy'
  readonly lifetime?: Lifetime
  readonly lookupTables?: AddressesByLookupTableAddress
}

export async function sign(rpc: Rpc, payer: KeyPairSigner, instructions: Instruction[], options: SignOptions = {}) {
  const lifetime = options.lifetime ?? (await rpc.getLatestBlockhash().send()).value
  if (options.version === 'legacy')
    return signTransactionMessageWithSigners(
      pipe(
        createTransactionMessage({ version: 'legacy' }),
        (message) => setTransactionMessageFeePayerSigner(payer, message),
        (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
        (message) => appendTransactionMessageInstructions(instructions, message),
      ),
    )
  return signTransactionMessageWithSigners(
    pipe(
      createTransactionMessage({ version: 0 }),
      (message) => setTransactionMessageFeePayerSigner(payer, message),
      (message) => setTransactionMessageLifetimeUsingBlockhash(lifetime, message),
      (message) => appendTransactionMessageInstructions(instructions, message),
      (message) => compressTransactionMessageUsingAddressLookupTables(message, options.lookupTables ?? {}),
    ),
  )
}

/** Sends a transaction and waits until it is confirmed, as a wallet does. */
export async function send(
  rpc: Rpc,
  payer: KeyPairSigner,
  instructions: Instruction[],
  { skipPreflight = false, ...options }: SignOptions & { skipPreflight?: boolean } = {},
): Promise<Signature> {
  const transaction = await sign(rpc, payer, instructions, options)
  const wire = getBase64EncodedWireTransaction(transaction)
  await rpc.sendTransaction(wire, { encoding: 'base64', skipPreflight }).send()
  const signature = getSignatureFromTransaction(transaction)
  await untilConfirmed(rpc, signature)
  return signature
}

/** More polls than any transaction needs to be confirmed. */
const MAX_POLLS = 10

async function untilConfirmed(rpc: Rpc, signature: Signature): Promise<void> {
  for (let asked = 0; asked < MAX_POLLS; asked++) {
    const [status] = (await rpc.getSignatureStatuses([signature]).send()).value
    if (status && status.confirmationStatus !== 'processed') return
  }
}

/** Posts without a client, to see the raw answer; `body` may be anything. */
export async function post(url: string, body: string, contentType = 'application/json') {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': contentType }, body })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

export interface RpcAnswer {
  readonly id: unknown
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string; readonly data?: Record<string, unknown> }
}

export async function call(url: string, method: string, params?: unknown): Promise<RpcAnswer> {
  const { text } = await post(url, JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
  return JSON.parse(text) as RpcAnswer
}
