// What a client calls to send a transaction: blockhash, fee, simulation, sending.

import { getBase58Encoder, getBase64Encoder } from '@solana/kit'
import { invalidParams, RPC_CODES, RpcError } from '../../rpc-error.ts'
import type { PrimaryChain } from '../chain.ts'
import { lastValidBlockHeight, type View } from '../timeline.ts'
import { describeTransactionError, type TransactionError } from '../transactions/errors.ts'
import type { SimulatedTransaction } from '../transactions/submit.ts'
import { decodeMessage, decodeWireTransaction, feeOf, type WireTransaction } from '../transactions/wire-transaction.ts'
import { accountEncoder } from './accounts.ts'
import {
  addressAt,
  type Config,
  configAt,
  flag,
  inContext,
  listAt,
  type Methods,
  oneOf,
  readAddress,
  readConfig,
  textAt,
  viewFor,
} from './params.ts'

export const sendingMethods: Methods = {
  getLatestBlockhash(chain, params) {
    const view = viewFor(chain, configAt(params, 0))
    return inContext(view, latestBlockhash(chain, view))
  },

  isBlockhashValid(chain, params) {
    const blockhash = addressAt(params, 0) // the same 32 bytes in base58
    const view = viewFor(chain, configAt(params, 1))
    return inContext(view, chain.isBlockhashValid(blockhash, view))
  },

  getFeeForMessage(chain, params) {
    const message = readMessage(textAt(params, 0))
    const view = viewFor(chain, configAt(params, 1))
    return inContext(view, chain.isBlockhashValid(message.lifetimeToken, view) ? feeOf(message) : null)
  },

  simulateTransaction(chain, params) {
    const config = configAt(params, 1)
    const wire = readWireTransaction(textAt(params, 0), config)
    const sigVerify = flag(config, 'sigVerify')
    const replaceRecentBlockhash = flag(config, 'replaceRecentBlockhash')
    if (sigVerify && replaceRecentBlockhash)
      throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
    const view = viewFor(chain, config)
    const refusal = replaceRecentBlockhash ? null : chain.refusal(wire, view)
    const simulation = chain.simulate(wire, sigVerify)
    if (simulation.err === 'SignatureFailure')
      throw new RpcError(RPC_CODES.signatureVerificationFailure, 'Transaction signature verification failure')
    const ran = refusal === null
    return inContext(view, {
      err: refusal ?? simulation.err,
      logs: ran ? simulation.logs : [],
      accounts: accountsAfter(chain, view, config, ran ? simulation : null),
      unitsConsumed: ran ? simulation.unitsConsumed : 0,
      returnData: ran ? simulation.returnData : null,
      innerInstructions: ran && flag(config, 'innerInstructions') ? simulation.innerInstructions : null,
      replacementBlockhash: replaceRecentBlockhash ? latestBlockhash(chain, view) : null,
      fee: ran ? feeOf(wire.message) : null,
      preBalances: ran ? simulation.preBalances : null,
      postBalances: ran ? simulation.postBalances : null,
      preTokenBalances: ran ? simulation.preTokenBalances : null,
      postTokenBalances: ran ? simulation.postTokenBalances : null,
      loadedAddresses: ran ? simulation.loadedAddresses : null,
    })
  },

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
    // A node forwards the transaction and answers with its id. The client must find out itself whether it landed.
    chain.send(wire)
    return wire.signatures[0]
  },
}

function latestBlockhash(chain: PrimaryChain, view: View) {
  const issued = chain.latestBlockhash(view)
  return { blockhash: issued.blockhash, lastValidBlockHeight: lastValidBlockHeight(issued) }
}

function accountsAfter(chain: PrimaryChain, view: View, config: Config, simulation: SimulatedTransaction | null) {
  if (config.accounts === undefined || config.accounts === null) return null
  const wanted = readConfig(config.accounts, 'accounts')
  const addresses = listAt([wanted.addresses], 0, 100).map(readAddress)
  if (wanted.encoding === 'base58' || wanted.encoding === 'binary') throw invalidParams('base58 encoding not supported')
  const encode = accountEncoder(chain, view, wanted, 'base64')
  if (simulation === null || simulation.err !== null) return addresses.map(() => null)
  const simulated = simulation.accountsAfter()
  return addresses.map((address) => {
    const account = simulated.get(address) ?? chain.account(address, view)
    return account?.lamports === 0n ? null : encode(account)
  })
}

const MAX_TRANSACTION_BYTES = 1232

/** The transaction a client sends; base58 unless the config says base64. */
function readWireTransaction(text: string, config: Config): WireTransaction {
  const encoding = oneOf(config.encoding, ['base58', 'base64'], 'base58')
  const bytes = decodeText(text, encoding)
  if (bytes.length > MAX_TRANSACTION_BYTES)
    throw invalidParams(
      `${encoding} encoded transaction too large: ${bytes.length} bytes (max: ${MAX_TRANSACTION_BYTES} bytes)`,
    )
  try {
    return decodeWireTransaction(bytes)
  } catch (cause) {
    throw invalidParams(`failed to deserialize the transaction: ${String(cause)}`)
  }
}

// The longest text for 1,232 bytes; decoding base58 is quadratic in its length.
const MAX_TEXT = { base58: 1683, base64: 1644 }

function decodeText(text: string, encoding: 'base58' | 'base64'): Uint8Array {
  if (text.length > MAX_TEXT[encoding])
    throw invalidParams(
      `${encoding} encoded transaction too large: ${text.length} characters (max: ${MAX_TEXT[encoding]})`,
    )
  try {
    return new Uint8Array((encoding === 'base58' ? getBase58Encoder() : getBase64Encoder()).encode(text))
  } catch {
    throw invalidParams(`invalid ${encoding} encoding`)
  }
}

function readMessage(base64: string) {
  try {
    return decodeMessage(getBase64Encoder().encode(base64))
  } catch (cause) {
    throw invalidParams(`Invalid params: not a transaction message in base64 (${String(cause)})`)
  }
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
