// Reading transactions that were sent.

import { MEMO_PROGRAMS } from '@svc/protocol/anchor'
import { invalidParams, RPC_CODES, RpcError } from '../../rpc-error.ts'
import type { PrimaryChain } from '../chain.ts'
import type { TransactionRecord } from '../transactions/history.ts'
import { decodeWireTransaction } from '../transactions/wire-transaction.ts'
import {
  addressAt,
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
  viewFor,
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
    if (!record || record.slot > chain.view(commitment).slot) return null
    const known = config.maxSupportedTransactionVersion ?? null
    requireKnownVersion(record, known === null ? null : readU64(known, 'maxSupportedTransactionVersion'))
    return encodeTransaction(record, encoding, known !== null)
  },

  getSignaturesForAddress(chain, params) {
    const address = addressAt(params, 0)
    const config = configAt(params, 1)
    const most = Number(readU64(config.limit ?? MAX_SIGNATURES, 'limit'))
    if (most < 1 || most > MAX_SIGNATURES) throw invalidParams(`Invalid limit; max ${MAX_SIGNATURES}`)
    const view = viewFor(chain, config)
    const listed = chain.transactions()
    const placeOf = (name: 'before' | 'until') =>
      config[name] == null ? null : listed.findIndex(({ signature }) => signature === readSignature(config[name]))
    const before = placeOf('before') ?? listed.length
    const until = placeOf('until') ?? -1
    const found: object[] = []
    // A node that does not know where to begin lists nothing: `before` is -1.
    for (const { slot, accounts, read } of listed.slice(until + 1, Math.max(0, before)).toReversed()) {
      if (found.length === most) break
      if (slot > view.slot || !accounts.includes(address)) continue
      const record = read()
      found.push({
        signature: record.signature,
        slot: record.slot,
        err: record.err,
        memo: memoOf(record),
        blockTime: Math.floor(record.time / 1000),
        confirmationStatus: chain.commitmentOf(record),
      })
    }
    return found
  },
}

const MAX_SIGNATURES = 1000

/** All memos of a transaction, each with its length, as a node lists them. */
function memoOf({ wire }: TransactionRecord): string | null {
  const { staticAccounts, instructions } = decodeWireTransaction(Buffer.from(wire, 'base64')).message
  const memos = instructions
    .filter(({ programAddressIndex }) => MEMO_PROGRAMS.includes(staticAccounts[programAddressIndex]!))
    .map(({ data = new Uint8Array() }) => `[${data.length}] ${Buffer.from(data)}`)
  return memos.length === 0 ? null : memos.join('; ')
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
