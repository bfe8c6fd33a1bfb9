// Transactions of the primary chain as read by the gateway, by the verifier and by the chain's library.

import { getCompiledTransactionMessageDecoder, getTransactionDecoder } from '@solana/kit'
import { PRIMARY } from '@svc/api/networks'
import type { X402Leg } from '@svc/api/x402'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, must, mustEqual } from '@svc/devnet/properties/rules'
import { NodeProblem } from '@svc/payments/nodes/node-pool'
import { inspectSolanaPayment } from '@svc/payments/solana/signed-payment'
import { decodeTransaction, type WireTransaction } from '@svc/payments/solana/wire-transaction'
import { LAMPORTS, PAY_REQ_ID, PAYER, paymentMessage, TREASURY, withSignature } from '@svc/payments/test/solana/wire'
import { toBase58 } from '@svc/protocol/bytes'
import { readWireTransaction } from '@svc/verifier/wire-transaction'
import { expect, it } from 'vitest'
import { createSolanaSettler } from '../../../src/purchases/protocols/x402/solana-settler.ts'

const LEG = {
  asset: PRIMARY.nativeAsset,
  payTo: TREASURY,
  amount: BigInt(LAMPORTS),
  ticker: 'SOL',
  decimals: 9,
  payReqId: PAY_REQ_ID,
}
/** These tests send nothing, so no node is needed. */
const settler = createSolanaSettler(PRIMARY, { rpcUrls: [], quorum: 1 }, new Uint8Array(32).fill(1))
/** The bytes before the message: the number of signatures and one signature. */
const SIGNED_BYTES = 65

it('T-129 T-52 no made-up input breaks the rules of transactions of the primary chain', async () => {
  const messages = [paymentMessage('legacy'), paymentMessage(0)]
  expect(
    await problemWith({
      examples: messages.map(withSignature),
      words: ['\u0001', '\u0000', '\u0080', '\u0002\u0000\u0000\u0000'],
      maxBytes: 4096,
      async rule(input) {
        const isGenuine = messages.some((message) => withSignature(message).equals(input))
        must((inspected(input) === 'payment') === isGenuine, 'accepts a payment that was not signed')
        checkReaders(input)
        const payload = { transaction: Buffer.from(input).toString('base64') }
        const id = settler.paymentId(payload)
        must(
          (await settler.signer(payload, {} as X402Leg)) === null || id !== null,
          'a transaction that is no payment was signed',
        )
        // Sign it again, so that more than the signature is checked.
        if (input.length > SIGNED_BYTES) checkSigned(withSignature(input.subarray(SIGNED_BYTES)))
      },
    }),
  ).toBeNull()
})

function inspected(bytes: Uint8Array): string {
  return inspectSolanaPayment(Buffer.from(bytes).toString('base64'), [LEG]).outcome
}

function checkReaders(bytes: Uint8Array): WireTransaction | null {
  const ours = accepted(NodeProblem, () => decodeTransaction(bytes))
  const verifiers = readWireTransaction(bytes)
  if (!ours) return null
  const transaction = getTransactionDecoder().decode(bytes)
  const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes)
  if (message.version !== 'legacy' && message.version !== 0) throw new Error('unexpected transaction version')
  mustEqual(ours.keys.map(toBase58), message.staticAccounts, 'the accounts differ from those of the library')
  mustEqual(
    ours.instructions,
    message.instructions.map(({ programAddressIndex, accountIndices = [], data = new Uint8Array() }) => ({
      program: programAddressIndex,
      accounts: [...accountIndices],
      data: new Uint8Array(data),
    })),
    'the instructions differ from those of the library',
  )
  if (!verifiers) return ours
  mustEqual(
    verifiers.signers,
    ours.keys.slice(0, ours.signatures.length).map(toBase58),
    'the signers differ from those of the verifier',
  )
  const named = ours.instructions.map(({ program, data }) => ({ program: toBase58(ours.keys[program]!), data }))
  mustEqual(verifiers.instructions, named, 'the instructions differ from those of the verifier')
  return ours
}

/** A transaction accepted as a payment moves the amount of the leg and nothing else. */
function checkSigned(bytes: Uint8Array): void {
  const transaction = checkReaders(bytes)
  if (inspected(bytes) !== 'payment') return
  const { keys, instructions, signatures } = transaction!
  const moving = instructions.filter(({ program }) => keys[program]!.every((byte) => byte === 0))
  const [transfer, ...more] = moving
  const [from, to, ...others] = transfer!.accounts.map((account) => toBase58(keys[account]!))
  must(signatures.length === 1 && more.length === 0 && others.length === 0, 'accepts a payment that does more')
  must(from === PAYER && to === TREASURY, 'accepts a payment to another account')
  must(Buffer.from(transfer!.data).readBigUInt64LE(4) === LEG.amount, 'accepts a payment of another amount')
}
