import type { PrimaryChain } from '../chain.ts'
import type { TransactionRecord } from '../ledger.ts'
import { commitmentIn, configAt, flag, listAt, oneOf, readSignature, readU64, textAt, viewFor } from '../params.ts'
import { invalidParams, RPC_CODES, RpcError } from '../rpc-error.ts'
import { encodeTransaction, TRANSACTION_ENCODINGS } from '../transaction-encoding.ts'
import { describeTransactionError, type TransactionError } from '../transaction-errors.ts'
import { inContext, type Methods } from './method.ts'
import { readWireTransaction } from './read-wire-transaction.ts'

const MAX_CONFIRMATIONS = 31
const STATUS_CACHE_BLOCKS = 150

export const transactionMethods: Methods = {
  sendTransaction(chain, params) {
    const config = configAt(params, 1)
    const wire = readWireTransaction(textAt(params, 0), config)
    if (!flag(config, 'skipPreflight')) {
      const view = viewFor(chain, config, 'preflightCommitment')
      const outcome = chain.preflight(wire)
      if (outcome.err === 'SignatureFailure')
        throw new RpcError(RPC_CODES.signatureVerificationFailure, 'Transaction signature verification failure')
      const refusal = chain.refusal(wire, view)
      if (refusal !== null) throw preflightFailure(refusal, [], 0)
      if (outcome.err !== null) throw preflightFailure(outcome.err, outcome.logs, outcome.unitsConsumed)
    }
    // A node forwards the transaction and answers with its id; whether it lands, the client must find out by itself.
    chain.submit(wire)
    return wire.signatures[0]
  },

  getSignatureStatuses(chain, params) {
    const signatures = listAt(params, 0, 256).map(readSignature)
    const all = flag(configAt(params, 1), 'searchTransactionHistory')
    const view = chain.view('processed')
    const isRecent = (record: TransactionRecord) =>
      view.height - chain.timeline.heightAt(record.time) <= STATUS_CACHE_BLOCKS
    return inContext(
      view,
      signatures.map((signature) => {
        const record = chain.transaction(signature)
        return record && (all || isRecent(record)) ? statusOf(chain, record, view.slot) : null
      }),
    )
  },

  getTransaction(chain, params) {
    const signature = readSignature(textAt(params, 0))
    const config = typeof params[1] === 'string' ? { encoding: params[1] } : configAt(params, 1)
    const encoding = oneOf(config.encoding, TRANSACTION_ENCODINGS, 'json')
    const commitment = commitmentIn(config)
    if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
    const record = chain.transaction(signature)
    if (!record || record.time > chain.view(commitment).cutoff) return null
    const known = config.maxSupportedTransactionVersion ?? null
    requireKnownVersion(record, known === null ? null : readU64(known, 'maxSupportedTransactionVersion'))
    return encodeTransaction(record, encoding, known !== null)
  },
}

function preflightFailure(err: TransactionError, logs: readonly string[], unitsConsumed: number): RpcError {
  const message = `Transaction simulation failed: ${describeTransactionError(err)}`
  return new RpcError(RPC_CODES.preflightFailure, message, {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed,
  })
}

function statusOf(chain: PrimaryChain, record: TransactionRecord, slot: number) {
  const confirmationStatus = chain.commitmentOf(record)
  return {
    slot: record.slot,
    confirmations: confirmationStatus === 'finalized' ? null : Math.min(slot - record.slot, MAX_CONFIRMATIONS),
    err: record.err,
    status: record.err === null ? { Ok: null } : { Err: record.err },
    confirmationStatus,
  }
}

function requireKnownVersion(record: TransactionRecord, known: bigint | null) {
  const { version } = record
  if (version === 'legacy' || (known !== null && known >= BigInt(version))) return
  throw new RpcError(
    RPC_CODES.unsupportedTransactionVersion,
    `Transaction version (${version}) is not supported by the requesting client. ` +
      `Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
  )
}
