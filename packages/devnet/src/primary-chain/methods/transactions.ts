// Reading transactions that were sent.

import { invalidParams, RPC_CODES, RpcError } from '../../rpc-error.ts'
import type { PrimaryChain } from '../chain.ts'
import type { TransactionRecord } from '../transactions/history.ts'
import {
  commitmentIn,
  configAt,
  flag,
  inContext,
  listAt,
  type Methods,
  oneOf,
  readSignature,
  readU64,
  textAt,
} from './params.ts'
import { encodeTransaction, TRANSACTION_ENCODINGS } from './transaction-encoding.ts'

const MAX_CONFIRMATIONS = 31
const STATUS_CACHE_BLOCKS = 150

export const transactionMethods: Methods = {
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
